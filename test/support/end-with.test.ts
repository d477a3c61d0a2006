import { test } from "vitest";
import { spawnNode } from "../cli/spawn-cli.ts";

/** Starts a process that would never end, which shares its standard output, and stays. */
const PARENT = `
  import { spawn } from "node:child_process";
  import { endWithThisProcess } from "./test/support/end-with.ts";
  const child = spawn(process.execPath, ["-e", "console.log('started'); setInterval(() => {}, 1000)"], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  endWithThisProcess(child);
`;

test("a child that a killed process of the tests leaves behind ends with it", async () => {
  await using parent = spawnNode(["--input-type=module", "--eval", PARENT]);
  await parent.said("stdout", "started");
  parent.child.kill("SIGKILL");
  // The output is complete when the last process that holds it has ended.
  await parent.ended();
});
