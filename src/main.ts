#!/usr/bin/env node
import { nodeVersionProblem } from "./app/node-version.ts";

const problem = nodeVersionProblem();
if (problem === undefined) {
  // Compiling the sources takes half a second of each start. Built files are compiled in a tenth.
  if (import.meta.url.endsWith(".ts")) {
    const { enableCompileCache } = await import("node:module");
    enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/compiled`);
  }
  // Loaded only now: an older Node would fail in it, with a message about a module of its own.
  const { run } = await import("./app/cli/run.ts");
  const { isBrokenPipe } = await import("./app/cli/terminal/terminal.ts");
  // Without a listener, an output that cannot be written ends the process with a stack trace.
  process.stdout.on("error", (error) => {
    if (isBrokenPipe(error) || process.stdout.listenerCount("error") > 1) return;
    process.stderr.write(`flarewire: cannot write the output: ${error.message}\n`);
    process.once("exit", () => {
      process.exitCode = 1;
    });
  });
  process.stderr.on("error", () => {});
  process.exitCode = await run(process.argv.slice(2), {
    environment: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    get stdin() {
      return process.stdin;
    },
  });
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
