import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import type { DebianProgram } from "../harness/on-demand.ts";
import { wrkProgram } from "./rest.ts";

function findWrk(): DebianProgram | undefined {
  try {
    return wrkProgram();
  } catch (error) {
    if (process.env.CI === "true") throw error;
    return undefined;
  }
}

test("the load program of the rest bench starts on a machine without its libraries", ({ skip }) => {
  const wrk = findWrk();
  if (!wrk) return skip("Debian's wrk cannot be fetched");
  const { stdout, stderr } = spawnSync(wrk.path, ["-v"], { env: wrk.env, encoding: "utf8" });
  expect(stdout + stderr).toMatch(/^wrk .*\[/);
});
