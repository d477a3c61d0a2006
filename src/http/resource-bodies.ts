import { formatCursor } from "../protocol/index.ts";
import type { HeadLike } from "./head-like.ts";
import { Representation } from "./representation.ts";

/** The parts of the snapshot that are served each under its own address. */
export const RESOURCES = ["flares", "newest", "charts", "leaderboards"] as const;
export type Resource = (typeof RESOURCES)[number];

type Part = Resource | "explanations";
const PARTS: readonly Part[] = [...RESOURCES, "explanations"];

/** What was made of an object of the snapshot. */
interface Held {
  readonly value: unknown;
  readonly representation: Representation;
}

/**
 * The bodies of REST, made once per change: at the first request after it, and for as long as the head holds the same
 * objects. A part whose bytes come out the same keeps its version, so that clients go on getting 304.
 *
 * A part's version is the cursor at which these bytes were first seen; the state at a cursor is one, so a version never
 * names two bodies. A restart that begins a new epoch begins new versions.
 */
export class ResourceBodies {
  readonly #head: HeadLike;
  readonly #held = new Map<Part, Held>();
  #whole:
    | { readonly cursor: string; readonly parts: readonly unknown[]; readonly made: Representation }
    | undefined;

  constructor(head: HeadLike) {
    this.#head = head;
  }

  /** The resource as it is at the head's cursor. */
  resource(name: Resource): Representation {
    return this.#part(name);
  }

  /**
   * All of the snapshot with its cursor. `observed_at` is the event time at which the state at this cursor was seen, and
   * stands for as long as nothing changes, so that the body of a quiet market stays the same.
   */
  snapshot(): Representation {
    const cursor = formatCursor(this.#head.cursor);
    const parts = PARTS.map((name) => this.#head.snapshot[name]);
    const whole = this.#whole;
    if (whole?.cursor === cursor && parts.every((part, at) => part === whole.parts[at])) return whole.made;
    const { observedAtMs } = this.#head;
    const observedAt = new Date(observedAtMs).toISOString();
    const chunks: Buffer[] = [Buffer.from(`{"cursor":"${cursor}","observed_at":"${observedAt}"`)];
    for (const name of PARTS) chunks.push(Buffer.from(`,"${name}":`), this.#part(name).bytes);
    chunks.push(Buffer.from("}"));
    // The same cursor may be met at another observed_at, after a restart within an epoch or on another node.
    const made = new Representation(Buffer.concat(chunks), `${cursor}-${observedAtMs.toString(36)}`);
    this.#whole = { cursor, parts, made };
    return made;
  }

  #part(name: Part): Representation {
    const value = this.#head.snapshot[name];
    const held = this.#held.get(name);
    if (held?.value === value) return held.representation;
    const bytes = Buffer.from(JSON.stringify(value));
    const representation = held?.representation.bytes.equals(bytes)
      ? held.representation
      : new Representation(bytes, formatCursor(this.#head.cursor));
    this.#held.set(name, { value, representation });
    return representation;
  }
}
