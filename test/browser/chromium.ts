import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { findInstalled } from "../support/debian-package.ts";

const PATH = "/usr/bin/chromium";

/** The browser of the tests: Debian's chromium; `undefined` where there is none and none can be had, as {@link findInstalled} says. */
export function findChromium(): string | undefined {
  return findInstalled(() => existsSync(PATH), "chromium") ? PATH : undefined;
}

/** Starts it. Root may not have a sandbox. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}
