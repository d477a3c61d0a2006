import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import type { SnapshotSource } from "../../src/gateway/source/index.ts";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import type { Finish } from "../support/servers/edges.ts";
import { SAMPLE_FLARE } from "../support/world/samples.ts";
import { lendPage, ownPage } from "./shared-page.ts";

const { address } = SAMPLE_FLARE.token;
/** One of each element. */
export const ALL = `<flare-ticker></flare-ticker><flare-list limit="100"></flare-list><flare-badge token="${address.toUpperCase().replace("0X", "0x")}"></flare-badge>`;

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

/** A gateway, and a site with these elements. */
export async function openSite(
  finish: Finish,
  source: SnapshotSource,
  elements = ALL,
  settings: object = {},
) {
  const gateway: Gateway = await startGateway(
    createConfig({ port: 0, drain: "0", logLevel: "silent", ...settings }),
    { source },
  );
  finish(() => gateway.stop());
  const site = await serveSite(gateway.url, elements);
  finish(async () => site[Symbol.asyncDispose]());
  const viewport = { width: 360, height: 800 };
  const pageErrors: string[] = [];
  const visit = async (page: Page): Promise<Page> => {
    page.on("console", (message) => pageErrors.push(message.text()));
    page.on("pageerror", (error) => pageErrors.push(String(error)));
    await page.goto(site.url);
    return page;
  };
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    return Number(line?.split(" ")[1]);
  };
  return {
    ...{ gateway, pageErrors },
    tab: async () => visit(await lendPage(finish, { viewport })),
    /** Opens two tabs, whose clocks have normal speed until the test accelerates them. */
    timedTabs: async () => {
      const first = await ownPage(finish, { viewport });
      await first.clock.install();
      const second = await first.context().newPage();
      return [() => visit(first), () => visit(second)] as const;
    },
    opened: () => metric('flarewire_connections_opened_total{transport="websocket"}'),
    connections: () => metric('flarewire_connections{transport="websocket"}'),
  };
}
