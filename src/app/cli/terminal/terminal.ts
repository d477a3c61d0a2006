import type { Readable, Writable } from "node:stream";
import { styleText } from "node:util";

/** A command's view of the process, which tests replace. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** The keyboard, if any. Do not access it without need: the access opens it. */
  readonly stdin?: Keyboard;
}

/** An input stream, possibly a terminal. */
export type Keyboard = Readable & {
  readonly isTTY?: boolean;
  /** Terminal only: delivers each key at once and without echo, Ctrl-C too. */
  setRawMode?(on: boolean): unknown;
};

/** An output stream, possibly a terminal. */
export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Whether the terminal shows this many colors. Respects NO_COLOR, FORCE_COLOR and TERM. */
  hasColors?(count: number): boolean;
};

/** Styles text. Returns it unchanged for a pipe, NO_COLOR or a terminal without colors. */
export type Paint = (style: Style, text: string) => string;

type Style = "bold" | "dim" | "inverse" | "red" | "green" | "yellow" | "cyan";

export function paintFor(output: Output): Paint {
  const isColored = output.isTTY === true && (output.hasColors?.(16) ?? false);
  return (style, text) => (isColored ? styleText(style, text, { validateStream: false }) : text);
}

/** Error codes of a write without a reader. */
const GONE: ReadonlySet<unknown> = new Set(["EPIPE", "ERR_STREAM_DESTROYED"]);

/** Returns true if a pipe's reader has left, as in `| head`. This is not an error. */
export function isBrokenPipe(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (GONE.has(error.code)) return true;
  // On a socket whose reader left unread data.
  return error.code === "ECONNRESET" && "syscall" in error && error.syscall === "write";
}

export function say(terminal: Terminal, line: string): void {
  terminal.stderr.write(`${line}\n`);
}
