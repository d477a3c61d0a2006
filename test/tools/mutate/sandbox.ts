import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { applyFault, type Fault } from "./fault-list.ts";

export const ROOT = join(import.meta.dirname, "../../..");

/** The outcome of one run of tests. */
type Verdict =
  | { readonly kind: "passed" }
  | { readonly kind: "failed"; readonly by: string }
  | { readonly kind: "late" };

/** A copy of the working tree, in which files are changed and tests run. */
export class Sandbox {
  readonly #root: string;
  #running: ChildProcess | undefined;

  constructor() {
    this.#root = mkdtempSync(join(tmpdir(), "flarewire-mutate-"));
    const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: ROOT });
    const files = listed.toString().split("\0");
    for (const file of files) {
      if (file === "" || !existsSync(join(ROOT, file))) continue;
      mkdirSync(dirname(join(this.#root, file)), { recursive: true });
      cpSync(join(ROOT, file), join(this.#root, file));
    }
    symlinkSync(join(ROOT, "node_modules"), join(this.#root, "node_modules"));
  }

  /** Runs the tests with the fault in place, and removes the fault. */
  async try(fault: Fault, limitMs: number): Promise<Verdict> {
    const path = join(this.#root, fault.file);
    const source = readFileSync(path, "utf8");
    writeFileSync(path, applyFault(fault, source));
    try {
      return await this.run(fault.tests, limitMs);
    } finally {
      writeFileSync(path, source);
    }
  }

  /** Runs these tests until the first failure. */
  async run(tests: readonly string[], limitMs: number): Promise<Verdict> {
    const report = join(this.#root, "mutate-report.json");
    rmSync(report, { force: true });
    const options = ["--bail=1", "--maxWorkers=2", "--reporter=json", `--outputFile=${report}`];
    const vitest = join(this.#root, "node_modules/vitest/vitest.mjs");
    const child = spawn(process.execPath, [vitest, "run", "--root", "test", ...tests, ...options], {
      cwd: this.#root,
      stdio: "ignore",
      // In a process group of its own, so that processes which a test started end with it.
      detached: true,
    });
    this.#running = child;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#kill();
    }, limitMs);
    const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
    clearTimeout(timer);
    this.#kill();
    this.#running = undefined;
    if (isLate) return { kind: "late" };
    return code === 0 ? { kind: "passed" } : { kind: "failed", by: firstFailure(report) };
  }

  remove(): void {
    this.#kill();
    rmSync(this.#root, { recursive: true, force: true });
  }

  #kill(): void {
    const group = this.#running?.pid;
    if (group === undefined) return;
    try {
      process.kill(-group, "SIGKILL");
    } catch {
      // The group has already ended.
    }
  }
}

interface Report {
  readonly testResults?: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Returns the title of the failed test, or its file if it failed outside of a test. */
function firstFailure(path: string): string {
  if (!existsSync(path)) return "the test run itself";
  const { testResults = [] }: Report = JSON.parse(readFileSync(path, "utf8"));
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === "failed"),
  );
  if (failed[0]) return failed[0].fullName;
  const file = testResults.find(({ status }) => status === "failed");
  if (file) return file.name.split("/").slice(-2).join("/");
  return "an error outside of any test";
}
