import { assertNever } from "../../base/lib/assert-never.ts";
import type { Snapshot } from "../../base/model/index.ts";
import {
  advanceSnapshot,
  ChangeMismatch,
  type Cursor,
  type EventBody,
  toSeq,
} from "../../base/protocol/index.ts";
import {
  type LeaderBase,
  type LeaderMessage,
  ProtocolViolation,
  type ReplicatedEvent,
} from "./leader-message.ts";

/** A mirror's position: the end of a batch in the leader's log, and the state there. */
export interface MirrorPosition {
  readonly cursor: Cursor;
  readonly snapshot: Snapshot;
}

/** A complete batch of the leader, and the state after it. */
export interface LeaderBatch {
  readonly events: readonly ReplicatedEvent[];
  readonly snapshot: Snapshot;
  /** Event time of the data; `undefined` if the batch reports only the state of the source. */
  readonly observedAtMs: number | undefined;
}

type StreamStep =
  | { readonly kind: "nothing" }
  /** The subscription is active and continues from the position. */
  | { readonly kind: "resumed" }
  /** The subscription is active, and the mirror must start over. */
  | { readonly kind: "reset"; readonly cursor: Cursor; readonly base: LeaderBase }
  | { readonly kind: "batch"; readonly batch: LeaderBatch };

/** The leader's events do not continue this side's log. Reconnect without the cursor. */
export class LogDivergence extends Error {
  override readonly name = "LogDivergence";
}

/** Far more events than a real batch has: a batch is one update of the market. */
const MAX_EVENTS = 100_000;
/** Maximum size of a batch's messages: as much as a single message may have. */
const MAX_CHARACTERS = 64 * 2 ** 20;

/** Assembles one connection's checked events into complete batches. Does no I/O. */
export class LeaderStream {
  #position: MirrorPosition | undefined;
  #requested: boolean;
  #subscribed = false;
  #pending: ReplicatedEvent[] = [];
  #pendingCharacters = 0;

  /** `position`: where to resume, if requested. Without it, the stream must start with a base. */
  constructor(position: MirrorPosition | undefined) {
    this.#position = position;
    this.#requested = position !== undefined;
  }

  /** Everything up to here was returned as batches. */
  get position(): MirrorPosition | undefined {
    return this.#position;
  }

  /**
   * Processes a message of `characters` length. Throws {@link ProtocolViolation} if it is not
   * allowed at this point. Throws {@link LogDivergence} if an event before it is missing, or if its
   * batch does not apply to the snapshot.
   */
  take(message: LeaderMessage, characters = 0): StreamStep {
    switch (message.type) {
      case "resumed":
        return this.#resumed(message.cursor);
      case "reset": {
        if (this.#subscribed) throw new ProtocolViolation("it sent a second base on one connection");
        this.#subscribed = true;
        this.#position = { cursor: message.cursor, snapshot: message.base.lists.snapshot };
        return { kind: "reset", cursor: message.cursor, base: message.base };
      }
      case "event":
        return this.#event(message.epoch, message.event, characters);
      case "hello":
      case "heartbeat":
      case "goaway":
      case "refused":
      case "other":
        return { kind: "nothing" };
      default:
        return assertNever(message);
    }
  }

  #resumed({ epoch, seq }: Cursor): StreamStep {
    const position = this.#position?.cursor;
    if (!this.#requested || this.#subscribed || position?.epoch !== epoch || position.seq !== seq)
      throw new ProtocolViolation(`it resumed from ${epoch}-${seq}, which was not requested`);
    this.#subscribed = true;
    return { kind: "resumed" };
  }

  #event(epoch: string, event: ReplicatedEvent, characters: number): StreamStep {
    const position = this.#position;
    if (!position || !this.#subscribed)
      throw new ProtocolViolation("it sent an event before confirming the subscription");
    const { seq, batch } = event;
    if (epoch !== position.cursor.epoch) throw new ProtocolViolation(`its event ${seq} is in another epoch`);
    const expected = position.cursor.seq + this.#pending.length + 1;
    // A duplicate that was already processed.
    if (seq < expected) return { kind: "nothing" };
    if (seq > expected) throw new LogDivergence(`event ${expected} is missing before ${seq}`);
    const first = this.#pending[0];
    if (batch < seq || (first && first.batch !== batch) || batch - position.cursor.seq > MAX_EVENTS)
      throw new ProtocolViolation(`its event ${seq} claims a batch that ends with ${batch}`);
    this.#pendingCharacters += characters;
    if (this.#pendingCharacters > MAX_CHARACTERS)
      throw new ProtocolViolation(
        `its batch that ends with ${batch} has more than ${MAX_CHARACTERS} characters`,
      );
    this.#pending.push(event);
    if (seq < batch) return { kind: "nothing" };
    const events = this.#pending;
    this.#pending = [];
    this.#pendingCharacters = 0;
    const snapshot = advance(
      position.snapshot,
      events.map(({ body }) => body),
    );
    const { run } = event;
    this.#position = { cursor: { epoch: position.cursor.epoch, seq: toSeq(seq), run }, snapshot };
    const market = events.findLast(({ body }) => body.channel !== "status");
    const observedAtMs = market && Date.parse(market.body.observed_at);
    return { kind: "batch", batch: { events, snapshot, observedAtMs } };
  }
}

function advance(snapshot: Snapshot, events: readonly EventBody[]): Snapshot {
  try {
    return events.reduce((state, event) => advanceSnapshot(state, event), snapshot);
  } catch (cause) {
    if (!(cause instanceof ChangeMismatch)) throw cause;
    throw new LogDivergence(cause.message.slice(0, 200), { cause });
  }
}
