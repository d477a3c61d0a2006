import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { IS_SOAK } from "../support/law-runs.ts";
import { findInstalled } from "../support/setup/debian-package.ts";

const WIDTHS: readonly number[] = [
  ...widths(320, 1_200, IS_SOAK ? 20 : 110),
  ...widths(1_200, 1_920, IS_SOAK ? 80 : 240),
  1_920,
];

/**
 * Window widths in pixels at which nothing may be cut off. `npm test` has fewer: the smallest, and
 * a sixth of the others, which differ between neighboring pages of a list.
 */
export const widthsFor = (at: number): readonly number[] =>
  IS_SOAK ? WIDTHS : WIDTHS.filter((_, index) => index === 0 || index % 6 === at % 6);

/** The headless shell first: it opens a page with a fifth of the CPU time. */
const PATHS = ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium"];

/** The tests' browser, Debian's Chromium; `undefined` if unavailable, see {@link findInstalled}. */
export function findChromium(): string | undefined {
  const find = () => PATHS.find((path) => existsSync(path));
  return findInstalled(() => find() !== undefined, "chromium-headless-shell") ? find() : undefined;
}

/** Flags for fewer processes, because each takes time to start. */
const ARGS: readonly string[] = ["--in-process-gpu", "--renderer-process-limit=1"];

/** Just below a test's own limit, so that a failed test names what it waited for. */
const MAX_WAIT_MS = 500_000;

/** Makes pages wait, too. The dashboard gives up some requests after three or ten seconds. */
const PATIENCE = "AbortSignal.timeout = () => new AbortController().signal";

/** Starts the browser. Its pages wait as long as a busy machine may need. */
export async function launch(executablePath: string, flags = ARGS): Promise<Browser> {
  // Root cannot use a sandbox.
  const args = process.getuid?.() === 0 ? [...flags, "--no-sandbox"] : [...flags];
  const browser = await chromium.launch({ executablePath, args, timeout: MAX_WAIT_MS });
  browser.on("context", (context) => {
    context.setDefaultTimeout(MAX_WAIT_MS);
    context.addInitScript(PATIENCE).catch(() => {});
  });
  return browser;
}

let shared: Promise<Browser> | undefined;

/** The browser of all test files that this process runs. Playwright ends it with the process. */
export function shareBrowser(): Promise<Browser> {
  shared ??= launch(findChromium() ?? "");
  return shared;
}

function widths(from: number, to: number, step: number): readonly number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step);
}
