import { checkOrigin, claimantOf } from "../../gateway/http/index.ts";
import { extension } from "../../gateway/start/index.ts";
import { registerMcp } from "./mcp-route.ts";

/** Serves tools for AI agents, over the Model Context Protocol. */
export const mcp = extension({
  name: "mcp",
  settings: {},
  open: ({ settings: { allowedOrigins }, hub, policy }) => ({
    routes: ({ app }) =>
      registerMcp(app, {
        pause: async (request) => hub.turn.pause(await claimantOf(policy, request)),
        // The protocol requires it: only pages of this server, and those that are listed by name.
        checkOrigin: (origin, host) => {
          const named = allowedOrigins?.filter((one) => one !== "*") ?? [];
          if (originHost(origin) !== host) checkOrigin(origin, named);
        },
      }),
  }),
});

function originHost(origin = ""): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
