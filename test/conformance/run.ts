import { randomUUID } from "node:crypto";
import type { Saved } from "./fill.ts";
import type { Target } from "./http.ts";
import { show, valueAt } from "./json.ts";
import type { Line, TransportName } from "./line.ts";
import { match, type Shapes } from "./match.ts";
import { openLine } from "./open-line.ts";
import { Failure } from "./verdict.ts";

/** What a suite gives each of its cases. */
export interface Surroundings {
  readonly target: Target;
  readonly shapes: Shapes;
  /** How long events of the market are waited for. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

/** A case on its way: its lines and what it has saved. */
export class Run {
  readonly surroundings: Surroundings;
  readonly saved: Saved = new Map();
  readonly #lines = new Map<string, Line>();
  readonly #over = new AbortController();

  constructor(surroundings: Surroundings, transport: TransportName | undefined) {
    this.surroundings = surroundings;
    if (transport !== undefined) this.saved.set("transport", transport);
    this.saved.set("random", randomUUID());
  }

  /** Ends the lines and what is being asked. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.surroundings.signal, this.#over.signal]);
  }

  /** The line of that name. Throws RangeError where none was opened. */
  line(name: string): Line {
    const line = this.#lines.get(name);
    if (line) return line;
    throw new RangeError(`no line "${name}" was opened`);
  }

  /** Opens a line under this name. */
  open(name: string, opening: Omit<Parameters<typeof openLine>[1], "name" | "shapes">): Line {
    const { target, shapes } = this.surroundings;
    const line = openLine(target, { ...opening, name, shapes }, this.signal);
    this.#lines.set(name, line);
    return line;
  }

  /** Throws Failure where the value is not as the matcher says; `what` names the value. */
  hold(matcher: unknown, value: unknown, what: string): void {
    const found = match(matcher, value, this.surroundings.shapes);
    if (found) throw new Failure(`${found.expected} at ${what}${found.path}`, show(found.came));
  }

  /** Saves parts of a value under names, by JSON pointers. */
  save(saves: Readonly<Record<string, string>> | undefined, value: unknown): void {
    for (const [name, pointer] of Object.entries(saves ?? {})) this.saved.set(name, valueAt(value, pointer));
  }

  /** Throws the first fault that a line has met. */
  checkLines(): void {
    for (const { fault } of this.#lines.values()) if (fault) throw fault;
  }

  /** Closes every line and waits for their ends, a moment at most. */
  async finish(): Promise<void> {
    const lines = [...this.#lines.values()];
    for (const line of lines) line.close();
    await Promise.allSettled(lines.map((line) => line.until(() => line.end !== undefined, 1_000)));
    this.#over.abort();
  }
}
