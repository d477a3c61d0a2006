import { EMPTY_SNAPSHOT, type Flare, type Listing, type Snapshot } from "../../../src/base/model/index.ts";
import { applyEvent, type EventBody, type View } from "../../../src/base/protocol/index.ts";
import {
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_LISTING,
  SAMPLE_OUTCOME,
} from "../../support/world/samples.ts";

const OBSERVED_AT = "2017-11-12T08:36:00.000Z";

/** The kinds of changes that a step can make. */
export type Step = "list" | "unlist" | "flare" | "refresh" | "surge" | "finish" | "status";
export const STEPS: readonly Step[] = ["list", "unlist", "flare", "refresh", "surge", "finish", "status"];

const idOf = (n: number) => `00000000-0000-5000-8000-${n.toString(16).padStart(12, "0")}`;

/** A market of a few lists. The protocol's own rules derive each snapshot from the events. */
export class TestMarket {
  snapshot: Snapshot = EMPTY_SNAPSHOT;
  #count = 0;

  /**
   * Returns the events of one poll and the snapshot after them. A step with nothing to change makes
   * another kind of change.
   */
  poll(steps: readonly Step[]): { events: EventBody[]; snapshot: Snapshot } {
    const events = steps.map((step) => {
      const event = this.#event(step);
      this.snapshot = whole(applyEvent(this.snapshot, event));
      return event;
    });
    return { events, snapshot: this.snapshot };
  }

  #event(step: Step): EventBody {
    this.#count += 1;
    const { newest, flares } = this.snapshot;
    const listed = newest.bsc.at(-1 - (this.#count % Math.max(1, newest.bsc.length)));
    if (step === "status") {
      const data = { state: this.#count % 2 ? ("live" as const) : ("stale" as const), reason: "" };
      return { name: "source-status", channel: "status", observed_at: OBSERVED_AT, data };
    }
    if (step === "finish") return this.#finish(flares.finished_trending);
    if (step === "flare" && flares.pro.length < 5) {
      const flare: Flare = { ...SAMPLE_FLARE, id: idOf(this.#count), token: this.#token(SAMPLE_FLARE.token) };
      const data = { op: "insert" as const, index: 0, flare, why: null, cause: "detected" as const };
      return { name: "flare-started", channel: "flares.pro", observed_at: OBSERVED_AT, data };
    }
    const flaring = flares.pro[this.#count % Math.max(1, flares.pro.length)];
    if ((step === "refresh" || step === "flare") && flaring) {
      const data = {
        op: "set" as const,
        id: flaring.id,
        set: { recent_price_change: this.#count, liquidity: this.#liquidity() },
      };
      return { name: "flare-updated", channel: "flares.pro", observed_at: OBSERVED_AT, data };
    }
    if (step === "surge" && flaring) {
      const set = { recent_price_change: this.#count, liquidity: this.#liquidity() };
      const surge = { number: this.#count, at: OBSERVED_AT, price: "0.3", score: 6.5 };
      const why = { ...SAMPLE_EXPLANATION, surge };
      const data = { op: "set" as const, id: flaring.id, set, flare: { ...flaring, ...set }, why, surge };
      return { name: "flare-surged", channel: "flares.pro", observed_at: OBSERVED_AT, data };
    }
    if (step === "unlist" && listed) {
      const data = { op: "remove" as const, id: listed.id };
      return { name: "token-unlisted", channel: "newest.bsc", observed_at: OBSERVED_AT, data };
    }
    const listing: Listing = {
      ...SAMPLE_LISTING,
      id: idOf(this.#count),
      liquidity: this.#liquidity(),
      token: this.#token(SAMPLE_LISTING.token),
    };
    const data = { op: "insert" as const, index: 0, listing };
    return { name: "token-listed", channel: "newest.bsc", observed_at: OBSERVED_AT, data };
  }

  /** Adds a finished flare, gives one its final outcome, or removes one. */
  #finish(finished: readonly Flare[]): EventBody {
    const common = { channel: "flares.finished", observed_at: OBSERVED_AT } as const;
    const chosen = finished[this.#count % Math.max(1, finished.length)];
    const outcome = { ...SAMPLE_OUTCOME, end_change: this.#count, final: chosen !== undefined };
    if (chosen && (finished.length > 3 || this.#count % 5 === 0)) {
      return { ...common, name: "flare-expired", data: { op: "remove", id: chosen.id } };
    }
    if (chosen && this.#count % 2 === 0) {
      return { ...common, name: "flare-outcome", data: { op: "set", id: chosen.id, set: {}, outcome } };
    }
    const flare: Flare = { ...SAMPLE_FLARE, id: idOf(this.#count), token: this.#token(SAMPLE_FLARE.token) };
    const data = { op: "insert", index: 0, flare, why: SAMPLE_EXPLANATION, cause: "faded", outcome } as const;
    return { ...common, name: "flare-finished", data };
  }

  #liquidity(): string {
    return `${(this.#count * 37) % 100}000`;
  }

  /** Returns the sample as one of three tokens. */
  #token<T extends object>(sample: T): T & { readonly symbol: string; readonly address: string } {
    const which = this.#count % 3;
    return { ...sample, symbol: `T${which}`, address: `0x${which}`.padEnd(42, "a") };
  }
}

function whole(view: View): Snapshot {
  return { ...EMPTY_SNAPSHOT, ...view } as Snapshot;
}
