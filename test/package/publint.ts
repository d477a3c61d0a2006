import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { fetchedPackage } from "../support/setup/fetched-package.ts";

const run = promisify(execFile);
const NAME = "publint";
const VERSION = "0.3.25";

/** Returns what publint reports about a folder's package, `undefined` if npm cannot fetch it. */
export async function publint(packageFolder: string): Promise<string | undefined> {
  const folder = fetchedPackage(NAME, VERSION);
  if (folder === undefined) return undefined;
  const args = [join(folder, "src/cli.js"), "run", packageFolder, "--strict", "--pack", "false"];
  return (await run(process.execPath, args).catch((error: { stdout: string }) => error)).stdout;
}

/** What ends a report without a problem. */
export const NO_PROBLEM = /All good!/;
