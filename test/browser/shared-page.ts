import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { Finish } from "../support/servers/edges.ts";
import { shareBrowser } from "./chromium.ts";

/** What tests set of a page that others use after them. */
export type Look = Pick<
  BrowserContextOptions,
  "viewport" | "colorScheme" | "forcedColors" | "reducedMotion"
> & {
  /** Scripts that run before those of the page. */
  readonly scripts?: readonly string[];
};

let shared: Promise<BrowserContext> | undefined;
/** Blank pages that no test uses now. */
const resting: Page[] = [];

/**
 * A blank page for the duration of the test. Other tests use it before and after, because a new one
 * takes twice the CPU time of loading the dashboard: only a test that needs a clock, a time zone or
 * a network of its own opens one, see {@link ownPage}.
 */
export async function lendPage(finish: Finish, look: Look = {}): Promise<Page> {
  const { scripts = [] } = look;
  shared ??= shareBrowser().then((browser) => browser.newContext());
  const page = resting.pop() ?? (await (await shared).newPage());
  finish(() => putBack(page));
  await setLook(page, look);
  for (const script of scripts) {
    const added = await page.addInitScript(script);
    finish(() => added.dispose());
  }
  return page;
}

/** Sets all that a look has, but for its scripts. */
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
  // Ports, and so origins, come back.
  await page.evaluate("try { localStorage.clear(); sessionStorage.clear(); } catch {}");
  await page.goto("about:blank");
  await page.mouse.move(0, 0);
  resting.push(page);
}

/** A page in a context of its own, for the duration of the test. */
export async function ownPage(finish: Finish, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await (await shareBrowser()).newContext(options);
  finish(() => context.close());
  return context.newPage();
}
