import { extension } from "../../gateway/start/index.ts";
import { history } from "../history/index.ts";
import { pages } from "../pages/index.ts";
import { addPermalinkRoutes } from "./permalink-routes.ts";

/** Serves a page and a picture for each flare and token, to share. Needs the history. */
export const permalinks = extension({
  name: "permalinks",
  settings: {},
  open: (context) => {
    const reader = context.of(history);
    const built = context.of(pages);
    if (!reader || !built) return undefined;
    return {
      routes: ({ app, settings }) =>
        addPermalinkRoutes(app, { ...context, settings, history: reader, pages: built }),
    };
  },
});
