import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodeOf } from "../../../src/app/cli/exit-code.ts";
import { FileBusyError } from "../../../src/app/data/sqlite-failure.ts";
import { InputError } from "../../../src/base/lib/input-error.ts";
import { FlarewireError } from "../../../src/base/protocol/index.ts";
import { OutputError } from "../../../src/feeds/index.ts";

const ROOT = join(import.meta.dirname, "../../..");
const failed = (facts: object) => Object.assign(new Error("failed"), facts);
const WRAPPED = [
  ["a setting", (cause: unknown) => new FlarewireError("invalid-setting", "data = x", { cause })],
  ["a file to read", (cause: unknown) => new InputError("keys.json", "it cannot be read", { cause })],
  ["a file to write", (cause: unknown) => new OutputError("cannot write events.ndjson", { cause })],
  ["nothing else", (cause: unknown) => cause],
] as const;

for (const [what, wrap] of WRAPPED) {
  test.each([
    ["a full disk", { code: "ENOSPC" }],
    ["a quota", { code: "EDQUOT" }],
    ["a failing disk", { code: "EIO" }],
    ["too many open files of the process", { code: "EMFILE" }],
    ["too many open files of the machine", { code: "ENFILE" }],
    ["a name service that does not answer", { code: "EAI_AGAIN" }],
    ["a database on a full disk", { code: "ERR_SQLITE_ERROR", errcode: 13 }],
    ["a database that another process has locked", { code: "ERR_SQLITE_ERROR", errcode: 5 }],
    ["a database that cannot be read now", { code: "ERR_SQLITE_ERROR", errcode: 10 | (3 << 8) }],
  ])(`%s that affects ${what} exits with 75, so that a supervisor tries again`, (_trouble, facts) => {
    expect(exitCodeOf(wrap(failed(facts)))).toBe(75);
    expect(exitCodeOf(new Error("outer", { cause: wrap(failed(facts)) }))).toBe(75);
  });
}

test.each(WRAPPED)("what only a person can correct about %s exits with 1", (_what, wrap) => {
  for (const code of ["EACCES", "ENOENT", "EISDIR", "EADDRINUSE"])
    expect([code, exitCodeOf(wrap(failed({ code })))]).toEqual([code, 1]);
});

test("a data directory of a process that is ending exits with 75, and an error that is its own cause ends", () => {
  expect(exitCodeOf(new FileBusyError("events.sqlite", { cause: failed({ errcode: 5 }) }))).toBe(75);
  const own = new InputError("keys.json", "it is not JSON");
  own.cause = own;
  expect(exitCodeOf(own)).toBe(1);
});

test.each(["flarewire.service", "flarewire-edge@.service"])(
  "the unit %s restarts after exit code 75 however often it takes, and not after 1",
  (name) => {
    const unit = readFileSync(join(ROOT, "examples/deploy", name), "utf8");
    const [head = "", service = ""] = unit.split("[Service]");
    expect(head).toContain("\nStartLimitIntervalSec=0\n");
    expect(service).toContain("\nRestart=on-failure\n");
    expect(/^RestartPreventExitStatus=(.*)$/m.exec(service)?.[1]).toBe("1");
  },
);
