import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { formatKeys, mintSecret } from "../../src/keys/index.ts";
import type { SnapshotSource } from "../../src/source/index.ts";
import { type Finish, newDirectory } from "../support/edges.ts";

/** A gateway with this source, and a page with its dashboard. */
interface OpenDashboard {
  readonly gateway: Gateway;
  readonly page: Page;
  /** All addresses that the page requested, including WebSockets. */
  readonly asked: readonly string[];
  /** Opens the page of this name, and waits for its content. */
  readonly goto: (name: string) => Promise<void>;
}

/** Starts both for the duration of the test. */
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

/** A key file with one key of the plan pro. */
export function makeKeys(finish: Finish) {
  const keys = join(newDirectory(finish), "keys.json");
  const { id, digest, text: key } = mintSecret("fw");
  writeFileSync(keys, formatKeys([{ id, sha256: digest.toString("hex"), plan: "pro" }]));
  return { keys, key };
}

/** Enters the key into the form. */
export async function enterKey(page: Page, key: string, isKept = false) {
  await page.getByLabel("Key", { exact: true }).fill(key);
  if (isKept) await page.getByLabel("Remember it until this tab is closed").check();
  await page.getByRole("button", { name: "Use this key" }).click();
}
