/*
 * npm run screenshots [-- DIRECTORY]: starts the program with its simulated market and takes
 * pictures of its pages. Without a directory, takes those of the documents, in
 * src/clients/dashboard/screenshots. With one, takes each page in each color scheme and
 * size. Debian's pngquant makes them smaller.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import type { View } from "../../../src/clients/sdk/index.ts";
import { spawnCli } from "../../app/cli/spawn-cli.ts";
import { findInstalled } from "../../support/setup/debian-package.ts";
import { findChromium, launch } from "../chromium.ts";
import { fileOf, KEPT, LOOKS, type Look, SHOWN_PAGES, type ShownPage } from "./shots.ts";

/** Interval and maximum number of attempts to find a flaring token in the chart. */
const RETRY_MS = 1_000;
const MAX_TRIES = 1_200;
const PNGQUANT = "/usr/bin/pngquant";
const KEPT_IN = fileURLToPath(new URL("../../../src/clients/dashboard/screenshots/", import.meta.url));

const given = process.argv[2];
const directory = given ?? KEPT_IN;
const executable = findChromium();
if (executable === undefined) throw new Error("no Chromium found: install Debian's chromium");
const isSmaller = findInstalled(() => existsSync(PNGQUANT), "pngquant");
mkdirSync(directory, { recursive: true });

await using server = spawnCli(["serve", "--port", "0", "--warmup", "6h", "--log-level", "error"]);
await server.said("stdout", /http:\/\/[\d.]+:\d+/);
const url = /http:\/\/[\d.]+:\d+/.exec(server.stdout())?.[0] ?? "";
const browser = await launch(executable);
try {
  // The market has its first data after about a minute.
  let token = await chooseToken("");
  for (const look of Object.keys(LOOKS) as Look[]) {
    const context = await browser.newContext({ ...LOOKS[look], timezoneId: "UTC", locale: "en" });
    const page = await context.newPage();
    page.on("console", (message) => complain(look, message.text()));
    page.on("pageerror", (error) => complain(look, String(error)));
    for (const shown of SHOWN_PAGES) {
      if (given === undefined && !KEPT[shown.name]?.includes(look)) continue;
      if (shown.name === "token") token = await chooseToken(token);
      await take(page, shown, look, token);
    }
    await context.close();
  }
} finally {
  await browser.close();
}

/**
 * Waits for a flaring token in the chart, which alone has prices to plot, and returns its address.
 * Prefers the token of the previous picture.
 */
async function chooseToken(previous: string): Promise<string> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { flares, charts } = (await (await fetch(`${url}/api/v1/snapshot`)).json()) as View;
    const charted = charts?.bsc?.map(({ flare }) => flare.token.address) ?? [];
    const running = new Set(flares?.pro?.map(({ token }) => token.address));
    const both = charted.filter((address) => running.has(address));
    const [first] = both;
    if (first !== undefined) return both.includes(previous) ? previous : first;
    await setTimeout(RETRY_MS);
  }
  throw new Error(`no flaring token was in the chart for ${(MAX_TRIES * RETRY_MS) / 60_000} minutes`);
}

async function take(
  page: Page,
  { name, address, ready }: ShownPage,
  look: Look,
  token: string,
): Promise<void> {
  // Via another page, to discard the previous state.
  await page.goto("about:blank");
  await page.goto(`${url}/${address.replace("TOKEN", token)}`);
  await page.locator(ready).first().waitFor({ timeout: 90_000 });
  const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
  if (Number(wide) > 0) complain(look, `${name} is ${wide} px wider than the screen`);
  const path = join(directory, fileOf(name, look));
  await page.screenshot({ path });
  if (isSmaller) execFileSync(PNGQUANT, ["--force", "--strip", "--speed", "1", "--output", path, "--", path]);
  process.stdout.write(`${path}\n`);
}

function complain(look: Look, words: string): void {
  process.exitCode = 1;
  process.stderr.write(`${look}: ${words}\n`);
}
