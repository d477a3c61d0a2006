import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { findInstalled } from "../support/debian-package.ts";

/** The headless shell first: it opens a page with a fifth of the CPU time. */
const PATHS = ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium"];

/** The tests' browser, Debian's Chromium; `undefined` if unavailable, see {@link findInstalled}. */
export function findChromium(): string | undefined {
  const find = () => PATHS.find((path) => existsSync(path));
  return findInstalled(() => find() !== undefined, "chromium-headless-shell") ? find() : undefined;
}

/** Starts the browser. Root cannot use a sandbox. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}
