import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, WebSocket } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startScriptedServer } from "../app/cli/scripted-server.ts";
import { spawnNode } from "../app/cli/spawn-cli.ts";
import { findChromium, launch } from "../browser/chromium.ts";
import { servePage } from "../support/servers/serve-page.ts";
import { type LedGateway, startLedGateway } from "./led-gateway.ts";

/** Bundles the page for development, which enables React's checks. */
async function bundle(): Promise<string> {
  const input = fileURLToPath(new URL("react/hydrate.ts", import.meta.url));
  const made = await rolldown({
    input,
    platform: "browser",
    resolve: { conditionNames: ["flarewire-source", "browser", "import", "default"] },
    transform: { define: { "process.env.NODE_ENV": '"development"' } },
  });
  const { output } = await made.generate({ format: "iife" });
  await made.close();
  return output[0].code;
}

/** Serves the rendered page from its own origin. */
async function serveRendered(html: string): Promise<AsyncDisposable & { readonly url: string }> {
  const page = `<!doctype html><link rel="icon" href="data:,"><div id="root">${html}</div><script src="/page.js"></script>`;
  return servePage(page, new Map([["/page.js", await bundle()]]));
}

async function render(server: string): Promise<string> {
  await using rendering = spawnNode(["test/examples/react/render.ts", server]);
  expect([await rendering.ended(), rendering.stderr()]).toEqual([0, ""]);
  return rendering.stdout();
}

test("a server renders the hook without flares, opens no connection and ends", async () => {
  await using server = await startScriptedServer();
  let connections = 0;
  // This wait outlives the test, and then times out.
  server.next().then(
    () => connections++,
    () => undefined,
  );
  const html = await render(server.url);
  expect([html, connections]).toEqual([
    expect.stringContaining("<ul></ul><output>0 connecting undefined</output>"),
    0,
  ]);
});

const executable = findChromium();

describe.skipIf(executable === undefined)("the hook in Chromium, in strict mode", () => {
  let browser: Browser;
  let context: BrowserContext;
  let gateway: LedGateway;

  beforeAll(async () => {
    gateway = await startLedGateway();
    browser = await launch(executable ?? "");
    context = await browser.newContext();
    // Playwright would wait for half a minute, whatever the test's own limit is.
    context.setDefaultTimeout(0);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.[Symbol.asyncDispose]();
  });

  test("it hydrates the rendered page, uses one connection, resumes a lost one, and closes it with the last component", async () => {
    await using site = await serveRendered(await render(gateway.url));
    const page = await context.newPage();
    const sockets: WebSocket[] = [];
    const pageErrors: string[] = [];
    page.on("websocket", (socket) => void sockets.push(socket));
    page.on("pageerror", (error) => pageErrors.push(error.message));
    // The browser itself logs network failures.
    page.on("console", (said) => {
      if (said.type() === "error" && !said.text().includes("ERR_")) pageErrors.push(said.text());
    });
    const shows = (state: string, symbols: readonly string[]) =>
      page.waitForFunction(
        `[document.querySelector("output")?.textContent, [...document.querySelectorAll("li")].map(({ textContent }) => textContent).join()].join("|") === ${JSON.stringify(`${symbols.length} ${state}|${symbols.map((symbol) => `${symbol} 3.4`).join()}`)}`,
        undefined,
        { polling: 20 },
      );

    gateway.start("ONE");
    await page.goto(`${site.url}?${encodeURIComponent(gateway.url)}`);
    await shows("live live", ["ONE"]);
    gateway.start("TWO");
    await shows("live live", ["TWO", "ONE"]);
    expect(sockets).toHaveLength(1);
    gateway.cut();
    gateway.finish("ONE");
    gateway.start("THREE");
    await shows("live live", ["THREE", "TWO"]);
    expect(sockets).toHaveLength(2);

    const closed = new Promise((resolve) => sockets[1]?.once("close", resolve));
    await page.click("button");
    await closed;
    await page.click("button");
    await shows("live live", ["THREE", "TWO"]);
    expect([sockets.length, pageErrors]).toEqual([3, []]);
    await page.close();
  });

  test("[K4] with a key it requests one ticket for all components", async () => {
    await using site = await serveRendered(await render(gateway.url));
    const page = await context.newPage();
    const keys: (string | undefined)[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/tickets")) keys.push(request.headers().authorization);
    });
    await page.goto(`${site.url}?${encodeURIComponent(gateway.url)}#some-key`);
    await page.waitForFunction('document.querySelector("output")?.textContent.includes("live live")');
    expect(keys).toEqual(["Bearer some-key"]);
    await page.close();
  });
});
