import { randomUUID } from "node:crypto";
import type { Saved } from "./fill.ts";
import type { Target } from "./http.ts";
import { show, valueAt } from "./json.ts";
import type { Line, TransportName } from "./line.ts";
import { match, type Shapes } from "./match.ts";
import { openLine } from "./open-line.ts";
import { Failure } from "./verdict.ts";

/** Values that all cases of a suite share. */
export interface Context {
  readonly target: Target;
  readonly shapes: Shapes;
  /** Maximum wait for events of the market. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

/** A running case, with its lines and saved values. */
export class Run {
  readonly context: Context;
  readonly saved: Saved = new Map();
  readonly #lines = new Map<string, Line>();
  readonly #finished = new AbortController();

  constructor(context: Context, transport: TransportName | undefined) {
    this.context = context;
    if (transport !== undefined) this.saved.set("transport", transport);
    this.saved.set("random", randomUUID());
  }

  /** Aborts when the case ends, and closes its lines and requests. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.context.signal, this.#finished.signal]);
  }

  /** Returns the line with this name. Throws RangeError if none was opened. */
  line(name: string): Line {
    const line = this.#lines.get(name);
    if (line) return line;
    throw new RangeError(`line "${name}" was not opened`);
  }

  /** Opens a line with this name. */
  open(name: string, opening: Omit<Parameters<typeof openLine>[1], "name" | "shapes">): Line {
    const { target, shapes } = this.context;
    const line = openLine(target, { ...opening, name, shapes }, this.signal);
    this.#lines.set(name, line);
    return line;
  }

  /** Throws Failure if the value does not match. `what` names the value. */
  check(matcher: unknown, value: unknown, what: string): void {
    const found = match(matcher, value, this.context.shapes);
    if (found) throw new Failure(`${found.expected} at ${what}${found.path}`, show(found.came));
  }

  /** Saves parts of a value by JSON pointers. */
  save(saves: Readonly<Record<string, string>> | undefined, value: unknown): void {
    for (const [name, pointer] of Object.entries(saves ?? {})) this.saved.set(name, valueAt(value, pointer));
  }

  /** Throws the first fault of a line. */
  checkLines(): void {
    for (const { fault } of this.#lines.values()) if (fault) throw fault;
  }

  /** Closes all lines, and waits up to a second for their ends. */
  async finish(): Promise<void> {
    const lines = [...this.#lines.values()];
    for (const line of lines) line.close();
    await Promise.allSettled(lines.map((line) => line.until(() => line.end !== undefined, 1_000)));
    this.#finished.abort();
  }
}
