import type { Clock } from "../../../base/lib/time/clock.ts";

/** A connection that is pinged. */
export interface PingTarget {
  /** Managed by {@link WebSocketPings}. */
  pingSecond: number;
  /** Set with each ping. Clear it when a pong arrives. */
  awaitsPong: boolean;
  ping(): void;
  /** Called if no pong arrived in time. */
  lost(): void;
}

const TICK_MS = 1_000;
/** Seconds between two pings of a connection. */
const PERIOD_TICKS = 25;
/** Seconds to wait for the pong. */
const PATIENCE_TICKS = 10;

/**
 * Pings each target every 25 s, about a 25th of the targets each second. Reports a target whose
 * pong does not arrive within 10 s.
 */
export class WebSocketPings {
  readonly #bySecond: readonly Set<PingTarget>[] = Array.from({ length: PERIOD_TICKS }, () => new Set());
  readonly #stop: () => void;
  #added = 0;
  #tick = 0;

  constructor(clock: Clock) {
    this.#stop = clock.every(TICK_MS, () => this.#onTick());
  }

  add(target: PingTarget): void {
    target.pingSecond = this.#added++ % PERIOD_TICKS;
    this.#bySecond[target.pingSecond]?.add(target);
  }

  remove(target: PingTarget): void {
    this.#bySecond[target.pingSecond]?.delete(target);
  }

  stop(): void {
    this.#stop();
  }

  #onTick(): void {
    this.#tick += 1;
    for (const target of this.#bySecond[this.#tick % PERIOD_TICKS] ?? []) {
      target.awaitsPong = true;
      target.ping();
    }
    const due = (this.#tick + PERIOD_TICKS - PATIENCE_TICKS) % PERIOD_TICKS;
    for (const target of this.#bySecond[due] ?? []) if (target.awaitsPong) target.lost();
  }
}
