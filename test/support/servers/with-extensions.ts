import { addDocumentRoutes } from "../../../src/extensions/docs/site/document-routes.ts";
import { addHistoryRoutes } from "../../../src/extensions/history/http/history-routes.ts";
import { StoredPast } from "../../../src/extensions/history/http/past-states.ts";
import type { HistoryReader } from "../../../src/extensions/history/index.ts";
import { type PageRenderer, readBuilt } from "../../../src/extensions/pages/built-pages.ts";
import { answerBrowser } from "../../../src/extensions/pages/missing-page.ts";
import { addPageRoutes } from "../../../src/extensions/pages/page-routes.ts";
import { addPairlistRoute } from "../../../src/extensions/pairlist/pairlist-route.ts";
import { addPermalinkRoutes } from "../../../src/extensions/permalinks/permalink-routes.ts";
import type { Pictures } from "../../../src/extensions/permalinks/picture/pictures.ts";
import { allowAll } from "../../../src/gateway/http/access/access.ts";
import type { HttpServerOptions } from "../../../src/gateway/http/index.ts";

/** A server's options, and what its extensions need. */
export interface ServerOptions extends HttpServerOptions {
  /** Default: no history and no permalinks. */
  readonly history?: HistoryReader | undefined;
  readonly pictures?: Pictures | undefined;
  readonly load?: (() => Promise<PageRenderer>) | undefined;
}

/** Adds the routes of the extensions that need no hub. */
export function withExtensions({ history, pictures, load, ...options }: ServerOptions): HttpServerOptions {
  const pages = readBuilt("dashboard");
  return {
    past: history && new StoredPast({ ...options, history }),
    answerUnknown: answerBrowser,
    ...options,
    register: async (scope) => {
      const { app, settings, add } = scope;
      addPairlistRoute(add, options);
      if (history) addHistoryRoutes(add, { ...options, history });
      addDocumentRoutes(app, settings, options.policy ?? allowAll);
      if (history) addPermalinkRoutes(app, { ...options, settings, history, pages, pictures, load });
      addPageRoutes(app, settings, pages);
      await options.register?.(scope);
    },
  };
}
