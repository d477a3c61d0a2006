import { aptGet } from "./apt-get.ts";

/**
 * Whether something is there that `isThere` looks for, after Debian's packages for it were fetched
 * by apt-get where it was missing and may be. Where it cannot be had a suite tells so by being
 * skipped; but throws if the environment says CI=true.
 */
export function findInstalled(isThere: () => boolean, ...packages: readonly string[]): boolean {
  if (isThere()) return true;
  try {
    if (process.getuid?.() === 0) {
      aptGet(["update", "-q"]);
      aptGet(["install", "-y", "-q", "--no-install-recommends", ...packages]);
    }
  } catch (error) {
    if (process.env.CI === "true") throw error;
  }
  if (isThere()) return true;
  if (process.env.CI === "true") throw new Error(`install Debian's ${packages.join(" ")}; they are missing`);
  return false;
}
