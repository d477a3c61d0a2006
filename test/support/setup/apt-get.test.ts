import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { newDirectory } from "../servers/edges.ts";
import { aptGet } from "./apt-get.ts";

afterEach(() => void vi.unstubAllEnvs());

/** Puts an `apt-get` first in the PATH that fails the first `failures` times with `complaint`. */
function installFake(directory: string, failures: number, complaint: string): string {
  const log = join(directory, "log");
  const program = join(directory, "apt-get");
  writeFileSync(log, "");
  const script = `#!/bin/sh
echo "$@" >> ${log}
[ $(wc -l < ${log}) -gt ${failures} ] || { echo "${complaint}" >&2; exit 100; }
`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  vi.stubEnv("PATH", `${directory}${delimiter}${process.env.PATH}`);
  return log;
}

test.each([
  "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)",
  "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
])("aptGet retries while apt reports %s", (complaint) => {
  const directory = newDirectory(onTestFinished);
  const log = installFake(directory, 2, complaint);
  aptGet(["install", "curl"], { pauseMs: 1 });
  expect(readFileSync(log, "utf8").trim().split("\n")).toEqual(Array(3).fill("install curl"));
});

test("aptGet throws any other error of apt at once, with apt's message", () => {
  const directory = newDirectory(onTestFinished);
  const log = installFake(directory, 1, "E: Unable to locate package curly");
  expect(() => aptGet(["install", "curly"])).toThrow("Unable to locate package curly");
  expect(readFileSync(log, "utf8")).toBe("install curly\n");
});

test("aptGet throws when the lock is not released within `maxMs`", () => {
  const directory = newDirectory(onTestFinished);
  installFake(directory, 1_000, "E: Could not get lock /var/lib/dpkg/lock");
  // Each look at the clock takes a minute, so that the limit passes at any speed of the machine.
  let minutes = 0;
  vi.spyOn(performance, "now").mockImplementation(() => 60_000 * minutes++);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(() => aptGet(["update"], { maxMs: 150_000, pauseMs: 1 })).toThrow("Could not get lock");
});
