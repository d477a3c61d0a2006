import { extension } from "../../gateway/start/index.ts";
import { addDocumentRoutes } from "./site/document-routes.ts";

/** Serves the contracts and the guides. */
export const docs = extension({
  name: "docs",
  settings: {},
  open: ({ policy }) => ({ routes: ({ app, settings }) => addDocumentRoutes(app, settings, policy) }),
});
