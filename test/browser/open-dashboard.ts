import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import type { SnapshotSource } from "../../src/source/index.ts";
import type { Finish } from "../support/edges.ts";

/** A gateway with this source, and a page that is to show its dashboard. */
export interface OpenDashboard {
  readonly gateway: Gateway;
  readonly page: Page;
  /** Every address that the page asked for, those of WebSockets too. */
  readonly asked: readonly string[];
  /** Shows the page of this name, as soon as it has anything. */
  readonly goto: (name: string) => Promise<void>;
}

/** Starts both; both end with the test. */
export async function openDashboard(
  browser: Browser,
  finish: Finish,
  source: SnapshotSource,
  {
    settings = {},
    options = {},
  }: { readonly settings?: object; readonly options?: BrowserContextOptions } = {},
): Promise<OpenDashboard> {
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent", ...settings });
  const gateway = await startGateway(config, { source });
  finish(() => gateway.stop());
  const context = await browser.newContext(options);
  finish(() => context.close());
  const page = await context.newPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("websocket", (socket) => asked.push(socket.url()));
  const goto = async (name: string) => {
    await page.goto(`${gateway.url}/#/${name}`);
    await page.locator("main h2").first().waitFor();
  };
  return { gateway, page, asked, goto };
}
