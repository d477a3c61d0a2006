import { assertNever } from "../../lib/assert-never.ts";
import type { Snapshot } from "../../model/index.ts";
import { applyEvent, ChangeMismatch, type Cursor, type EventBody, toSeq } from "../../protocol/index.ts";
import {
  type LeaderBase,
  type LeaderMessage,
  type PlacedEvent,
  ProtocolViolation,
} from "./leader-message.ts";

/** Where a mirror is: a batch end of the leader's log, and the state there. */
export interface MirrorPosition {
  readonly cursor: Cursor;
  readonly snapshot: Snapshot;
}

/** A batch of the leader's, whole, and the state behind it. */
export interface LeaderBatch {
  readonly events: readonly PlacedEvent[];
  readonly snapshot: Snapshot;
  /** Event time of the data; `undefined` where the batch only tells how the source fares. */
  readonly observedAtMs: number | undefined;
}

/** What has to be done after a message. */
export type StreamStep =
  | { readonly kind: "nothing" }
  /** The subscription stands, and goes on from the position. */
  | { readonly kind: "resumed" }
  /** The subscription stands, and the mirror has to begin anew. */
  | { readonly kind: "begun"; readonly cursor: Cursor; readonly base: LeaderBase }
  | { readonly kind: "batch"; readonly batch: LeaderBatch };

/** The leader's events do not follow from what this side has: go on without the cursor. */
export class LogDivergence extends Error {
  override readonly name = "LeaderMisfit";
}

/** No leader of ours comes near it: a batch is what one look at the source brought. */
const MAX_EVENTS = 100_000;
/** Characters of its messages: as much as a single one may have. */
const MAX_CHARACTERS = 64 * 2 ** 20;

/**
 * One connection's worth of a leader's log: puts its events together to whole batches, and proves that each follows from the one before and
 * fits the lists. Pure: what comes in is judged, nothing is done.
 */
export class LeaderStream {
  #position: MirrorPosition | undefined;
  #asked: boolean;
  #subscribed = false;
  #pending: PlacedEvent[] = [];
  #pendingCharacters = 0;

  /** `position`: where the mirror is, whose cursor was asked for; without one the stream begins with a base. */
  constructor(position: MirrorPosition | undefined) {
    this.#position = position;
    this.#asked = position !== undefined;
  }

  /** Everything up to here has been handed over. */
  get position(): MirrorPosition | undefined {
    return this.#position;
  }

  /**
   * `characters`: of the message's text. Throws {@link ProtocolViolation} for what a leader does not send at this point, {@link LogDivergence} where its events do
   * not go on from here.
   */
  take(message: LeaderMessage, characters = 0): StreamStep {
    switch (message.type) {
      case "resumed":
        return this.#resumed(message.cursor);
      case "begun": {
        if (this.#subscribed) throw new ProtocolViolation("it begins twice on one connection");
        this.#subscribed = true;
        this.#position = { cursor: message.cursor, snapshot: message.base.lists.snapshot };
        return { kind: "begun", cursor: message.cursor, base: message.base };
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
    const at = this.#position?.cursor;
    if (!this.#asked || this.#subscribed || at?.epoch !== epoch || at.seq !== seq)
      throw new ProtocolViolation(`it goes on from ${epoch}-${seq}, which nobody asked for`);
    this.#subscribed = true;
    return { kind: "resumed" };
  }

  #event(epoch: string, event: PlacedEvent, characters: number): StreamStep {
    const at = this.#position;
    if (!at || !this.#subscribed)
      throw new ProtocolViolation("it sends an event before the subscription stands");
    const { seq, batch } = event;
    if (epoch !== at.cursor.epoch) throw new ProtocolViolation(`its event ${seq} is of another epoch`);
    const expected = at.cursor.seq + this.#pending.length + 1;
    // Told again: it was taken already.
    if (seq < expected) return { kind: "nothing" };
    if (seq > expected) throw new LogDivergence(`event ${expected} is missing before ${seq}`);
    const first = this.#pending[0];
    if (batch < seq || (first && first.batch !== batch) || batch - at.cursor.seq > MAX_EVENTS)
      throw new ProtocolViolation(`its event ${seq} is of a batch that ends with ${batch}`);
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
      at.snapshot,
      events.map(({ body }) => body),
    );
    const { run } = event;
    this.#position = { cursor: { epoch: at.cursor.epoch, seq: toSeq(seq), run }, snapshot };
    const market = events.findLast(({ body }) => body.channel !== "status");
    const observedAtMs = market && Date.parse(market.body.observed_at);
    return { kind: "batch", batch: { events, snapshot, observedAtMs } };
  }
}

function advance(snapshot: Snapshot, events: readonly EventBody[]): Snapshot {
  try {
    return events.reduce((state, event) => applyEvent(state, event) as Snapshot, snapshot);
  } catch (cause) {
    if (!(cause instanceof ChangeMismatch)) throw cause;
    throw new LogDivergence(cause.message.slice(0, 200), { cause });
  }
}
