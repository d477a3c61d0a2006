import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts a web server with its own origin. It serves these scripts by path, and the page at all
 * other paths.
 */
export async function servePage(
  page: string,
  scripts: ReadonlyMap<string, string>,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(({ url = "" }, response) => {
    const script = scripts.get(url);
    response.setHeader("content-type", script ? "text/javascript" : "text/html; charset=utf-8");
    response.end(script ?? page);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
