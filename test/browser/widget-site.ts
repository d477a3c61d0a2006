import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A web server with its own origin. Its page has these elements of the gateway at `server`, whose
 * address replaces SERVER, under a policy that allows only the gateway's scripts and connections.
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
      `<!doctype html><html lang="en"><title>a site</title><main><h1>a site</h1>${elements.replaceAll("SERVER", server)}</main><script src="${server}/widget.js" async></script>`,
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

/** Returns the elements' visible text, and anything forbidden in them. */
export const LOOK = `(() => {
  const roots = [...document.querySelectorAll("main > :not(h1)")].map(({ shadowRoot }) => shadowRoot);
  const all = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  const text = roots.map((root) => root.textContent).join(" ");
  return {
    strange: all("img, script, iframe, b, i").length,
    links: all("a[href]").map(({ href }) => href).filter((href) => !/^https?:/.test(href)),
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    bidi: /[\\u202a-\\u202e\\u2066-\\u2069\\0]/.test(text),
    ran: globalThis.hacked !== undefined,
  };
})()`;
