import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findInstalled } from "../../support/setup/debian-package.ts";
import { Waiters } from "../../support/time/waiters.ts";
import { type RunningCli, spawnCommand } from "./spawn-cli.ts";

const PYTHON = "/usr/bin/python3";
const DRIVER = fileURLToPath(new URL("run-on-pty.py", import.meta.url));

/** Whether pseudo-terminals are available. */
export const hasPty = findInstalled(() => existsSync(PYTHON), "python3");

/** A command on a pseudo-terminal. Its standard output is everything it writes to the terminal. */
export interface PtyCli extends RunningCli {
  /** Presses keys, resizes, sends a signal, or reports a stop and the terminal's state. */
  send(order: { keys: string } | { size: [number, number] } | { signal: string } | { stopped: true }): void;
  /** The current lines of the terminal. */
  lines(): readonly string[];
  /** Resolves when the terminal shows this; rejects if the command ends first. */
  shows(text: string | RegExp): Promise<void>;
}

/** Starts `flarewire ARGS` on a terminal of this size. */
export function spawnPtyCli(
  args: readonly string[],
  [columns, rows]: readonly [number, number] = [100, 24],
  environment: Record<string, string> = {},
): PtyCli {
  const program = process.env.BUNDLED_PROGRAM ?? "src/main.ts";
  const command = [DRIVER, `${columns}`, `${rows}`, process.execPath, program, ...args];
  const running = spawnCommand(
    PYTHON,
    command,
    { TERM: "xterm-256color", ...environment },
    { stdin: "pipe" },
  );
  const { child } = running;
  child.stdin?.on("error", () => {});
  const lines = () => shownLines(running.stdout());
  const waiters = new Waiters(() => lines().join("\n"));
  child.stdout?.on("data", () => waiters.look());
  return {
    ...running,
    send: (order) => child.stdin?.write(`${JSON.stringify(order)}\n`),
    lines,
    shows: (text) => {
      const isShown = () => {
        const shown = lines().join("\n");
        return typeof text === "string" ? shown.includes(text) : text.test(shown);
      };
      const ended = running.ended().then(() => {
        throw new Error(`ended without showing ${text}: ${running.stderr()}`);
      });
      return Promise.race([waiters.until(isShown, `${text} on the terminal`), ended]);
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null) running.child.stdin?.write(`${JSON.stringify({ signal: "SIGKILL" })}\n`);
      await running.ended();
    },
  };
}

/** Renders `output`. Supports cursor moves, clearing, and the alternate screen. */
export function shownLines(output: string): readonly string[] {
  let lines: string[] = [];
  let row = 0;
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal interprets these.
  const sequence = /\x1b\[([?\d;]*)(?:([A-Za-z])|$)|([^\x1b]+)/g;
  for (const [, parameters = "", final, text] of output.matchAll(sequence)) {
    if (final === "H") {
      [row = 1, column = 1] = parameters.split(";").map(Number);
      row -= 1;
      column -= 1;
    } else if (final === "J" || parameters === "?1049") lines = [];
    else if (final === "K") lines[row] = (lines[row] ?? "").slice(0, column);
    else if (text !== undefined) {
      const line = lines[row] ?? "";
      lines[row] = `${line.slice(0, column).padEnd(column)}${text}${line.slice(column + text.length)}`;
      column += text.length;
    }
  }
  return Array.from(lines, (line) => line ?? "");
}
