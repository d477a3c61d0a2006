import type { Clock } from "../../lib/time/clock.ts";

/** A connection that is pinged. */
export interface PingTarget {
  /** Kept by {@link WebSocketPings}. */
  pingSlot: number;
  /** Set with each ping; to be cleared when a pong comes in. */
  awaitsPong: boolean;
  ping(): void;
  /** No pong came in time. */
  lost(): void;
}

const TICK_MS = 1_000;
/** Seconds between two pings of a connection. */
const PERIOD_TICKS = 25;
/** Seconds in which the pong has to come. */
const PATIENCE_TICKS = 10;

/**
 * Pings every connection each 25 seconds and tells those whose pong is not there 10 seconds later. One timer for all: each
 * second has its share of the connections, so that ten thousand pings do not stand in the way of an event.
 */
export class WebSocketPings {
  readonly #slots: readonly Set<PingTarget>[] = Array.from({ length: PERIOD_TICKS }, () => new Set());
  readonly #stop: () => void;
  #added = 0;
  #tick = 0;

  constructor(clock: Clock) {
    this.#stop = clock.every(TICK_MS, () => this.#turn());
  }

  add(target: PingTarget): void {
    target.pingSlot = this.#added++ % PERIOD_TICKS;
    this.#slots[target.pingSlot]?.add(target);
  }

  remove(target: PingTarget): void {
    this.#slots[target.pingSlot]?.delete(target);
  }

  /** Pings nobody any more. */
  stop(): void {
    this.#stop();
  }

  #turn(): void {
    this.#tick += 1;
    for (const target of this.#slots[this.#tick % PERIOD_TICKS] ?? []) {
      target.awaitsPong = true;
      target.ping();
    }
    const due = (this.#tick + PERIOD_TICKS - PATIENCE_TICKS) % PERIOD_TICKS;
    for (const target of this.#slots[due] ?? []) if (target.awaitsPong) target.lost();
  }
}
