import { test } from "vitest";
import { spawnNode } from "../../app/cli/spawn-cli.ts";

/** Starts an endless child process that shares its standard output, and keeps running. */
const PARENT = `
  import { spawn } from "node:child_process";
  import { endWithThisProcess } from "./test/support/servers/end-with.ts";
  const child = spawn(process.execPath, ["-e", "console.log('started'); setInterval(() => {}, 1000)"], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  endWithThisProcess(child);
`;

test("a child process ends when the test process that started it is killed", async () => {
  await using parent = spawnNode(["--input-type=module", "--eval", PARENT]);
  await parent.said("stdout", "started");
  parent.child.kill("SIGKILL");
  // The output ends only when the last process that shares it has ended.
  await parent.ended();
});
