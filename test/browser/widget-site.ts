import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A web server with its own origin. Its page has these elements of the gateway at `server`, under a
 * policy that allows only the gateway's script and connections.
 */
export async function serveSite(
  server: string,
  elements: string,
): Promise<AsyncDisposable & { readonly url: string }> {
  const policy = `default-src 'none'; script-src ${server}; connect-src ${server} ${server.replace("http", "ws")}; require-trusted-types-for 'script'`;
  const site = createServer((_request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.setHeader("content-security-policy", policy);
    response.end(
      `<!doctype html><html lang="en"><title>a site</title><main><h1>a site</h1>${elements}</main><script src="${server}/widget.js" async></script>`,
    );
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  return {
    url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      site.closeAllConnections();
      site.close();
      await once(site, "close");
    },
  };
}
