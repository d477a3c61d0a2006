import { checkOrigin } from "../../gateway/http/index.ts";
import { extension } from "../../gateway/start/index.ts";
import { registerMcp } from "./mcp-route.ts";

/** Serves tools for AI agents, over the Model Context Protocol. */
export const mcp = extension({
  name: "mcp",
  settings: {},
  open: ({ settings: { allowedOrigins } }) => ({
    routes: ({ app }) => registerMcp(app, { checkOrigin: (origin) => checkOrigin(origin, allowedOrigins) }),
  }),
});
