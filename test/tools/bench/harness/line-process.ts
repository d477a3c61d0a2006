import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { createInterface, type Interface } from "node:readline";

/** The core on which a process runs: one for servers, the other for the load. */
type Core = "server" | "load";

const NUMBERS: Readonly<Record<Core, string>> = { server: "0", load: "1" };

let canPin: boolean | undefined;

/**
 * Returns whether there are `taskset` and two cores. Otherwise nothing is pinned, and figures vary
 * more.
 */
export function isPinned(): boolean {
  if (canPin !== undefined) return canPin;
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" });
    canPin = availableParallelism() >= 2;
  } catch {
    canPin = false;
  }
  return canPin;
}

/** Processes to end when this one exits for any reason. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A child process that communicates in lines, pinned to a core. */
export class LineProcess {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  readonly #early: string[] = [];
  readonly #name: string;
  #over: string | undefined;

  constructor(core: Core, program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const words = isPinned() ? ["taskset", "-c", NUMBERS[core], program, ...args] : [program, ...args];
    this.#name = `${program} ${args.join(" ")}`;
    this.#child = spawn(words[0] ?? program, words.slice(1), {
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    if (!this.#child.stdout) throw new Error("no stdout");
    this.#lines = createInterface(this.#child.stdout);
    this.#lines.on("line", (line) => {
      const next = this.#waiting.shift();
      if (next) next.resolve(line);
      else this.#early.push(line);
    });
    this.#child.on("error", (error) => this.#end(error.message));
    this.#child.on("exit", (code, signal) => this.#end(`ended with ${signal ?? code}`));
    running.add(this.#child);
    // Its exit is reported elsewhere.
    this.#child.stdin?.on("error", () => {});
  }

  /** `taskset` becomes the program that it starts, so this is the program's own pid. */
  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error(`${this.#name} could not be started`);
    return pid;
  }

  /** Returns the next line of its output. Rejects if it exits before. */
  line(): Promise<string> {
    const early = this.#early.shift();
    if (early !== undefined) return Promise.resolve(early);
    if (this.#over !== undefined) return Promise.reject(new Error(`${this.#name}: ${this.#over}`));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Sends a line, and resolves with the response. */
  ask(line: string): Promise<string> {
    this.#child.stdin?.write(`${line}\n`);
    return this.line();
  }

  /** Kills the process, and resolves when it has exited. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }

  #end(how: string): void {
    running.delete(this.#child);
    this.#over = how;
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(`${this.#name}: ${how}`));
  }
}
