import { aptGet } from "./apt-get.ts";

/**
 * Returns whether a program is installed, after installing Debian's packages for it if needed and
 * permitted. Callers skip their tests if it returns false. With CI=true it throws instead.
 */
export function findInstalled(isInstalled: () => boolean, ...packages: readonly string[]): boolean {
  if (isInstalled()) return true;
  try {
    if (process.getuid?.() === 0) {
      aptGet(["update", "-q"]);
      aptGet(["install", "-y", "-q", "--no-install-recommends", ...packages]);
    }
  } catch (error) {
    if (process.env.CI === "true") throw error;
  }
  if (isInstalled()) return true;
  if (process.env.CI === "true")
    throw new Error(`Debian packages are missing: install ${packages.join(" ")}`);
  return false;
}
