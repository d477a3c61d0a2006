import { extension } from "../../gateway/start/index.ts";
import { readBuilt } from "./built-pages.ts";
import { createFirstPage } from "./first-page.ts";
import { answerBrowser } from "./missing-page.ts";
import { addPageRoutes } from "./page-routes.ts";

/** Serves the dashboard and the widgets, and answers browsers that open unknown paths. */
export const pages = extension({
  name: "pages",
  settings: {},
  open: (context) => {
    const built = readBuilt("dashboard");
    const index = built.get("index.html");
    const first = index && createFirstPage(context, index);
    return {
      provides: built,
      answerUnknown: answerBrowser,
      routes: ({ app, settings }) => addPageRoutes(app, settings, built, first),
    };
  },
});
