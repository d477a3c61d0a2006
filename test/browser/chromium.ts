import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PATH = "/usr/bin/chromium";
const INSTALL_MS = 300_000;

/**
 * The browser of the tests: Debian's chromium, fetched by apt-get where that is missing and may be. `undefined` where there is none and none can be had, which a
 * suite tells by being skipped; throws then if the environment says CI=true.
 */
export function findChromium(): string | undefined {
  if (existsSync(PATH)) return PATH;
  try {
    if (process.getuid?.() === 0) {
      const options = {
        env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
        stdio: "pipe",
        timeout: INSTALL_MS,
      } as const;
      execFileSync("apt-get", ["update", "-q"], options);
      execFileSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", "chromium"], options);
    }
  } catch (error) {
    if (process.env.CI === "true") throw error;
  }
  if (existsSync(PATH)) return PATH;
  if (process.env.CI === "true") throw new Error(`there is no ${PATH}; install Debian's chromium`);
  return undefined;
}

/** Starts it. Root may not have a sandbox. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}
