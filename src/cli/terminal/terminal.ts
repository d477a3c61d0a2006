import type { Readable, Writable } from "node:stream";

/** What a command needs of the process: its arguments' surroundings and where it writes. Passed in, so that tests own it. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Where keys are pressed; absent: nowhere. Only looked at by who wants them: the look opens it. */
  readonly stdin?: Keyboard;
}

/** A stream to read from, which may be a terminal. */
export type Keyboard = Readable & {
  readonly isTTY?: boolean;
  /** Of a terminal: each key comes by itself, unseen, Ctrl-C too. */
  setRawMode?(on: boolean): unknown;
};

/** A stream to write to, which may be a terminal. */
export type Output = Writable & {
  readonly isTTY?: boolean;
  /** Width of the terminal. */
  readonly columns?: number;
  /** Height of the terminal. */
  readonly rows?: number;
  /** Whether so many colours can be shown; knows NO_COLOR, FORCE_COLOR and TERM. */
  hasColors?(count: number): boolean;
};

/** Styles text, or leaves it as it is where colours are not wanted: a pipe, NO_COLOR, a dumb terminal. */
export type Paint = (style: keyof typeof STYLES, text: string) => string;

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** How to colour what is written to `output`. */
export function paintFor(output: Output): Paint {
  const coloured = output.isTTY === true && (output.hasColors?.(16) ?? false);
  if (!coloured) return (_style, text) => text;
  return (style, text) => {
    const [on, off] = STYLES[style];
    return `\u001B[${on}m${text}\u001B[${off}m`;
  };
}

/** What a write fails with when there is no reader. */
const GONE: ReadonlySet<unknown> = new Set(["EPIPE", "ERR_STREAM_DESTROYED"]);

/** The reader of a pipe went away: `| head` has seen enough. Nothing is wrong. */
export function isBrokenPipe(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (GONE.has(error.code)) return true;
  // Where the pipe is a socket, and the reader left something unread.
  return error.code === "ECONNRESET" && "syscall" in error && error.syscall === "write";
}

/** Writes one line to standard error. Never fails: there is nobody left to tell. */
export function say(terminal: Terminal, line: string): void {
  terminal.stderr.write(`${line}\n`);
}
