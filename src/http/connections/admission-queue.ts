import type { Duplex } from "node:stream";
import type { Claimant, Hub } from "../../hub/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { FlarewireError, type RefusalReason } from "../../protocol/index.ts";

/** How many requests may wait to be admitted, and how long. */
export interface AdmissionLimits {
  /** Requests that wait; default 1,024. A client that waits is a request and its answer in memory, some 20 kB. 1 or more. */
  readonly mostWaiting: number;
  /** How long one waits; default 5,000: clients give a handshake up after about 10 seconds. */
  readonly longestWaitMs: number;
}

/** The defaults named at each limit. */
export const DEFAULT_ADMISSION_LIMITS: AdmissionLimits = { mostWaiting: 1_024, longestWaitMs: 5_000 };

/** What a queue needs. */
export interface AdmissionQueueOptions {
  /** Shares the event loop, and counts. */
  readonly hub: Pick<Hub, "turn" | "counters">;
  readonly clock: Clock;
  readonly limits?: Partial<AdmissionLimits> | undefined;
}

/** A request that wants to be admitted. */
export interface Comer {
  readonly by: Claimant;
  /** The connection that it came over. */
  readonly socket: Duplex;
  /** HTTP has let go of the socket. */
  readonly isUpgraded: boolean;
}

/** How often waits that are too long are looked for. */
const LOOK_MS = 250;

interface Waiting {
  readonly by: Claimant;
  readonly sinceMs: number;
  /** Ends the wait: with admission, or with an error. */
  readonly end: (error?: FlarewireError) => void;
}

/**
 * Admits requests to follow events, or to read missed ones, no faster than the turn's time allows (see TurnBudget): thousands come back at once when a network was
 * away, and clients that stayed must not pay for it. Claimants take turns, keys before addresses, so that nobody is kept out by how often another asks. How many wait is
 * bounded, and for how long; a request beyond that is refused while it is still HTTP, and may come again.
 */
export class AdmissionQueue {
  readonly #hub: AdmissionQueueOptions["hub"];
  readonly #clock: Clock;
  readonly #limits: AdmissionLimits;
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();
  #stopLooking: (() => void) | undefined;

  constructor({ hub, clock, limits }: AdmissionQueueOptions) {
    this.#hub = hub;
    this.#clock = clock;
    this.#limits = { ...DEFAULT_ADMISSION_LIMITS, ...limits };
  }

  /**
   * Does `work` when it is the request's turn: at once, if the turn has time and nobody waits. Rejects as `work` does, and with FlarewireError `over-capacity` where too many wait,
   * after too long a wait, and when the connection ends first. Counts what became of the request.
   */
  async admit<Result>(comer: Comer, work: () => Promise<Result>): Promise<Result> {
    const { admissions } = this.#hub.counters;
    await this.#enter(comer);
    try {
      const result = await work();
      admissions.admitted += 1;
      return result;
    } catch (error) {
      admissions.refused += 1;
      throw error;
    }
  }

  #enter({ by, socket, isUpgraded }: Comer): Promise<void> {
    const { counters, turn } = this.#hub;
    if (this.#waiting.size >= this.#limits.mostWaiting) this.#makeRoom(by);
    return new Promise((resolve, reject) => {
      const stops: (() => void)[] = [];
      const waiting: Waiting = {
        by,
        sinceMs: this.#clock.monotonic(),
        end: (error) => {
          if (!this.#remove(waiting)) return;
          for (const stop of stops) stop();
          if (error) reject(error);
          else resolve();
        },
      };
      this.#add(waiting);
      const takeBack = turn.run(() => {
        this.#refuseLate();
        waiting.end();
      }, by);
      if (!this.#waiting.has(waiting)) return;
      stops.push(takeBack);
      const unwatch = watchEnd(socket, isUpgraded, () => {
        counters.admissions.gone += 1;
        waiting.end(new FlarewireError("over-capacity", "the connection ended while it waited"));
      });
      stops.push(unwatch);
    });
  }

  #add(waiting: Waiting): void {
    this.#waiting.add(waiting);
    this.#hub.counters.admissionsWaiting = this.#waiting.size;
    this.#stopLooking ??= this.#clock.every(LOOK_MS, () => this.#refuseLate());
  }

  /** False where it does not wait any more. */
  #remove(waiting: Waiting): boolean {
    const waited = this.#waiting.delete(waiting);
    this.#hub.counters.admissionsWaiting = this.#waiting.size;
    if (this.#waiting.size === 0) {
      this.#stopLooking?.();
      this.#stopLooking = undefined;
    }
    return waited;
  }

  #refuseLate(): void {
    const { longestWaitMs } = this.#limits;
    const lateMs = this.#clock.monotonic() - longestWaitMs;
    for (const waiting of this.#waiting) {
      if (waiting.sinceMs > lateMs) return;
      this.#hub.counters.admissions.late += 1;
      const bound = `${longestWaitMs} ms`;
      const message = `so many requests wait that this one waited for more than ${bound}`;
      waiting.end(overCapacity(message, bound, "queue-late"));
    }
  }

  /** In a full queue, refuses the latest request of the claimant that has the most in it; throws where that would be no fairer than to refuse the comer. */
  #makeRoom({ name, isKeyed }: Claimant): void {
    const lanes = Map.groupBy(this.#waiting, ({ by }) => by.name);
    const own = lanes.get(name)?.length ?? 0;
    const displaced = [...lanes.values()]
      .filter(([first]) => !first?.by.isKeyed)
      .reduce((most, lane) => (lane.length > most.length ? lane : most), []);
    const { mostWaiting } = this.#limits;
    const bound = `${mostWaiting} requests wait`;
    this.#hub.counters.admissions.full += 1;
    const message = `more clients come at once than can be admitted: ${bound}`;
    const full = overCapacity(message, bound, "queue-full");
    const last = displaced.at(-1);
    if (!last || (!isKeyed && displaced.length < own + 2)) throw full;
    last.end(full);
  }
}

function overCapacity(message: string, bound: string, reason: RefusalReason): FlarewireError {
  return new FlarewireError("over-capacity", message, { bound, reason });
}

/** Calls `gone` when the connection ends, until it is told to stop. */
function watchEnd(socket: Duplex, isUpgraded: boolean, gone: () => void): () => void {
  if (socket.destroyed) {
    gone();
    return () => {};
  }
  socket.on("close", gone);
  if (!isUpgraded) return () => socket.off("close", gone);
  // Nobody reads it meanwhile, so of an end from the other side nothing would be known. What may have come before stays where it is, for who reads it then.
  const look = () => {
    socket.read(0);
  };
  const ended = () => {
    socket.destroy();
  };
  socket.on("readable", look).on("end", ended);
  return () => socket.off("close", gone).off("readable", look).off("end", ended);
}
