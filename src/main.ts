#!/usr/bin/env node
import { run } from "./cli/run.ts";

process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  get stdin() {
    return process.stdin;
  },
});
