import { extension } from "../../gateway/start/extension.ts";
import { history } from "../history/index.ts";
import { pages } from "../pages/index.ts";
import { addPermalinkRoutes } from "./permalink-routes.ts";
import type { Pictures } from "./picture/pictures.ts";

interface PermalinkOptions {
  /** Draws the pictures. Default: a new one with its default limits. */
  readonly pictures?: Pictures | undefined;
}

/** Serves a page and a picture for each flare and token, to share. Needs the history. */
export const permalinks = createPermalinksExtension();

/** Creates the extension {@link permalinks}. */
export function createPermalinksExtension({ pictures }: PermalinkOptions = {}) {
  return extension({
    name: "permalinks",
    settings: {},
    open: (context) => {
      const reader = context.of(history);
      const built = context.of(pages);
      if (!reader || !built) return undefined;
      return {
        routes: ({ app, settings }) =>
          addPermalinkRoutes(app, { ...context, settings, history: reader, pages: built, pictures }),
      };
    },
  });
}
