#!/usr/bin/env node
import { nodeVersionProblem } from "./lib/io/node-version.ts";

const problem = nodeVersionProblem();
if (problem === undefined) {
  // Loaded only now: an older Node would fail in it, with a message about a module of its own.
  const { run } = await import("./cli/run.ts");
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
