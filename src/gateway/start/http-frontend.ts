import { createHttpServer } from "../http/index.ts";
import type { GatewaySettings } from "../settings/index.ts";
import type { OpenFrontend } from "./frontend.ts";

/**
 * Serves plain HTTP on an address. It accepts as many connections as the system allows. For TLS and
 * limits of connections, a program brings a frontend of its own.
 */
export function httpFrontend({ host, port }: Pick<GatewaySettings, "host" | "port">): OpenFrontend {
  return async (options) => {
    const app = await createHttpServer(options);
    return {
      listen: () => app.listen({ host, port }),
      retire: () => app.server.closeIdleConnections(),
      close: () => app.close(),
    };
  };
}
