import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { formatKeys, mintSecret } from "../../src/gateway/keys/index.ts";
import type { SnapshotSource } from "../../src/gateway/source/index.ts";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { type Finish, newDirectory } from "../support/servers/edges.ts";
import { type Look, lendPage, ownPage, setLook } from "./shared-page.ts";

/** Resolves once the page has painted what it has now. */
export const TWO_FRAMES =
  "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";

/** A gateway with this source, and a page with its dashboard. */
interface OpenDashboard {
  readonly gateway: Gateway;
  readonly page: Page;
  /** Opens the page of this name, and waits for its content. */
  readonly goto: (name: string) => Promise<void>;
}

/** Starts both for the duration of the test. With `own`, the page has a context of its own. */
export async function openDashboard(
  finish: Finish,
  source: SnapshotSource,
  {
    settings = {},
    look = {},
    own,
  }: { readonly settings?: object; readonly look?: Look; readonly own?: BrowserContextOptions } = {},
): Promise<OpenDashboard> {
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent", ...settings });
  const gateway = await startGateway(config, { source });
  finish(() => gateway.stop());
  const page = await (own ? ownPage(finish, own) : lendPage(finish, look));
  const goto = async (name: string) => {
    const isOpen = page.url().startsWith(gateway.url);
    await page.goto(`${gateway.url}/#/${name}`);
    // Until a frame after the address has changed, the heading may be the previous page's.
    if (isOpen) await page.evaluate(TWO_FRAMES);
    await page.locator("main h2:not(.rendered h2)").first().waitFor();
  };
  return { gateway, page, goto };
}

/**
 * Shares one gateway and one dashboard page among the tests of a suite that only read it.
 * {@link openDashboard} takes several times as much CPU time as such a test.
 */
export function shareDashboard(
  source: () => SnapshotSource,
  prepare: (page: Page) => Promise<unknown> = async () => {},
): (look?: Look) => Promise<OpenDashboard> {
  const ends: (() => void | Promise<void>)[] = [];
  let opened: OpenDashboard;
  beforeAll(async () => {
    opened = await openDashboard((end) => ends.push(end), source());
    await prepare(opened.page);
    await opened.goto("flares");
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return async (look = {}) => {
    await setLook(opened.page, look);
    await opened.page.mouse.move(0, 0);
    return opened;
  };
}

/** Waits until the details of the state say so of the events since the page was opened. */
export async function waitForCount(page: Page, text: string | RegExp): Promise<void> {
  await page.evaluate(`document.querySelector(".status").open = true`);
  await page.locator(".status dd", { hasText: text }).waitFor();
  await page.evaluate(`document.querySelector(".status").open = false`);
}

/** A script with which the page announces news when told to, not every ten seconds. */
export const HOLD_ANNOUNCER = `
const { setInterval: every, clearInterval: clear } = window;
globalThis.announcers = new Map();
window.setInterval = (run, ms, ...more) => {
  const id = every(run, ms === 10_000 ? 2 ** 31 - 1 : ms, ...more);
  if (ms === 10_000) announcers.set(id, run);
  return id;
};
window.clearInterval = (id) => {
  announcers.delete(id);
  clear(id);
};`;

/** Lets the page announce its news, and returns what this element then says. */
export async function hear(page: Page, selector: string): Promise<string | null> {
  await page.evaluate("for (const run of announcers.values()) run()");
  return page.locator(selector).textContent();
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

/** Makes the server report that its history starts at this minute, once `when` has resolved. */
export async function storeMinutes(page: Page, minute: string, when = Promise.resolve()): Promise<void> {
  await page.route("**/api/v1/history?*limit=1", async (route) => {
    await when;
    await route.fulfill({ headers: { "flarewire-stored-since": `${minute}:00.000Z` } });
  });
}
