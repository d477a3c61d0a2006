import { extension } from "../../gateway/start/index.ts";
import { readBuilt } from "./built-pages.ts";
import { answerBrowser } from "./missing-page.ts";
import { addPageRoutes } from "./page-routes.ts";

/** Serves the dashboard and the widgets, and answers browsers that open unknown paths. */
export const pages = extension({
  name: "pages",
  settings: {},
  open: () => {
    const built = readBuilt("dashboard");
    return {
      provides: built,
      answerUnknown: answerBrowser,
      routes: ({ app, settings }) => addPageRoutes(app, settings, built),
    };
  },
});
