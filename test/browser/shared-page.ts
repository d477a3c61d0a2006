import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { Finish } from "../support/servers/edges.ts";
import { shareBrowser } from "./chromium.ts";

/** Settings of a page that a test may change, although other tests use it later. */
export type Look = Pick<
  BrowserContextOptions,
  "viewport" | "colorScheme" | "forcedColors" | "reducedMotion"
> & {
  /** Scripts that run before those of the page. */
  readonly scripts?: readonly string[];
};

let shared: Promise<BrowserContext> | undefined;
/** Blank pages that no test is using. */
const idle: Page[] = [];

/**
 * Returns a blank page for the duration of the test. Pages are reused, because a new one takes
 * twice the CPU time of loading the dashboard. A test that needs its own clock, time zone or
 * network opens one by {@link ownPage}.
 */
export async function lendPage(finish: Finish, look: Look = {}): Promise<Page> {
  const { scripts = [] } = look;
  shared ??= shareBrowser().then((browser) => browser.newContext());
  const page = idle.pop() ?? (await (await shared).newPage());
  finish(() => putBack(page));
  await setLook(page, look);
  for (const script of scripts) {
    const added = await page.addInitScript(script);
    finish(() => added.dispose());
  }
  return page;
}

/** Applies a look, except its scripts. */
export async function setLook(
  page: Page,
  { viewport, colorScheme, forcedColors, reducedMotion }: Look,
): Promise<void> {
  await page.setViewportSize(viewport ?? { width: 1_280, height: 720 });
  await page.emulateMedia({
    colorScheme: colorScheme ?? "light",
    forcedColors: forcedColors ?? "none",
    reducedMotion: reducedMotion ?? "no-preference",
  });
}

async function putBack(page: Page): Promise<void> {
  if (page.isClosed()) return;
  page.removeAllListeners();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  // Later gateways may have the same port, and so the same origin.
  await page.evaluate("try { localStorage.clear(); sessionStorage.clear(); } catch {}");
  await page.goto("about:blank");
  await page.mouse.move(0, 0);
  idle.push(page);
}

/** Opens a page in its own context, for the duration of the test. */
export async function ownPage(finish: Finish, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await (await shareBrowser()).newContext(options);
  finish(() => context.close());
  return context.newPage();
}
