/** The dashboard and the widgets, as built pages. */

export { createAddressOf } from "./address-of.ts";
export { kindOf, loadRenderer, type PageRenderer } from "./built-pages.ts";
export { DOCUMENT_FIELDS, frameHtml } from "./frame.ts";
export { Html, html, prose } from "./html.ts";
export { answerUnbuilt } from "./missing-page.ts";
export { pages } from "./pages-extension.ts";
export { PAGE_FIELDS, varyOf } from "./send-page.ts";
