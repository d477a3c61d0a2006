import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Waiters } from "../../support/time/waiters.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The output of a running command so far. */
export interface CliOutput extends AsyncDisposable {
  stdout(): string;
  stderr(): string;
  /** Resolves when the output contains this; rejects if the command ends first. */
  said(stream: "stdout" | "stderr", text: string | RegExp): Promise<void>;
  /** Resolves with the exit code when the command has ended and its output is complete. */
  ended(): Promise<number | null>;
}

/** A command in a separate process. */
export interface RunningCli extends CliOutput {
  readonly child: ChildProcess;
}

/** The Node options that npm and npx set in a clone. */
const NODE_OPTIONS = /^node-options=(.*)$/m.exec(readFileSync(`${ROOT}.npmrc`, "utf8"))?.[1] ?? "";

/** Space for short-lived objects. Otherwise, collecting them takes a tenth of a start's CPU. */
const HEAP_FLAGS = ["--max-semi-space-size=64", "--min-semi-space-size=64"];

/** Starts `npx node ARGS` as {@link spawnCommand} does. */
export function spawnNode(args: readonly string[], environment: Record<string, string> = {}): RunningCli {
  return spawnCommand(process.execPath, [...HEAP_FLAGS, ...args], { NODE_OPTIONS, ...environment });
}

interface SpawnOptions {
  /** Default: no input. */
  readonly stdin?: "ignore" | "pipe";
  /** Whether it leads its own process group, which can be signaled. Default: false. */
  readonly detached?: boolean;
  /** Default: the project's root. */
  readonly cwd?: string;
}

/** Starts a command without inherited settings, and by default without a data directory. */
export function spawnCommand(
  command: string,
  args: readonly string[],
  environment: Record<string, string> = {},
  { stdin = "ignore", detached = false, cwd = ROOT }: SpawnOptions = {},
): RunningCli {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(FLAREWIRE_|NO_COLOR|FORCE_COLOR|CI$)/.test(name),
  );
  const child = spawn(command, [...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), FLAREWIRE_DATA: "none", ...environment },
    stdio: [stdin, "pipe", "pipe"],
    detached,
  });
  const closed = once(child, "close").then(() => child.exitCode);
  const kill = () => {
    if (child.exitCode === null) child.kill("SIGKILL");
  };
  return { child, ...collect(child, closed, kill) };
}

/** Collects the output of a command until it has closed. Disposing calls `kill`. */
export function collect(
  streams: { readonly stdout: Readable | null; readonly stderr: Readable | null },
  closed: Promise<number | null>,
  kill: () => void,
): CliOutput {
  const text = { stdout: "", stderr: "" };
  const waiters = new Waiters(() => text.stdout + text.stderr);
  for (const name of ["stdout", "stderr"] as const) {
    streams[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
      waiters.look();
    });
  }
  return {
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    said: (stream, expected) => {
      const isSaid = () =>
        typeof expected === "string" ? text[stream].includes(expected) : expected.test(text[stream]);
      const said = waiters.until(isSaid, `${expected} on ${stream}`);
      const ended = closed.then(() => {
        if (!isSaid()) throw new Error(`ended without printing ${expected}: ${text.stdout}${text.stderr}`);
      });
      return Promise.race([said, ended]);
    },
    ended: () => closed,
    [Symbol.asyncDispose]: async () => {
      kill();
      await closed;
    },
  };
}

/** Starts `flarewire ARGS` from the sources, or from the bundle of them if there is one. */
export function spawnCli(args: readonly string[], environment: Record<string, string> = {}): RunningCli {
  return spawnNode([process.env.BUNDLED_PROGRAM ?? "src/main.ts", ...args], environment);
}

/** Runs `flarewire ARGS` to its end. */
export async function runCli(args: readonly string[], environment: Record<string, string> = {}) {
  await using cli = spawnCli(args, environment);
  const code = await cli.ended();
  return { code, stdout: cli.stdout(), stderr: cli.stderr() };
}
