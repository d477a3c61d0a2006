import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { findInstalled } from "../support/debian-package.ts";

const PATH = "/usr/bin/chromium";

/** The tests' browser, Debian's chromium; `undefined` if unavailable, see {@link findInstalled}. */
export function findChromium(): string | undefined {
  return findInstalled(() => existsSync(PATH), "chromium") ? PATH : undefined;
}

/** Starts the browser. Root cannot use a sandbox. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}
