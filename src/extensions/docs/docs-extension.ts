import { extension } from "../../gateway/start/index.ts";
import { addDocumentRoutes } from "./site/document-routes.ts";

/** Documents are made before they are requested, but not while clients reconnect after a start. */
const PREPARE_AFTER_MS = 10_000;

/** Serves the contracts and the guides. */
export const docs = extension({
  name: "docs",
  settings: {},
  open: ({ policy, clock, logger }) => {
    let prepare: ReturnType<typeof addDocumentRoutes> = async () => {};
    return {
      routes: ({ app, settings }) => {
        prepare = addDocumentRoutes(app, settings, policy);
      },
      start: (signal) => {
        const failed = (err: unknown) => {
          if (!signal.aborted) logger.error({ err }, "cannot prepare the documents");
        };
        void clock
          .sleep(PREPARE_AFTER_MS, signal)
          .then(() => prepare(signal))
          .catch(failed);
      },
    };
  },
});
