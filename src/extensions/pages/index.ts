/** The dashboard and the widgets, as built pages. */
export { pages } from "./pages-extension.ts";
