import type { Duplex } from "node:stream";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { FlarewireError, type RefusalReason } from "../../../base/protocol/index.ts";
import type { Claimant, Hub } from "../../hub/index.ts";

export interface AdmissionQueueLimits {
  /** Maximum waiting requests, of about 20 kB each. Default 1,024. */
  readonly maxWaiting: number;
  /** Maximum wait in ms. Default 5,000: clients give up a handshake after about 10 seconds. */
  readonly maxWaitMs: number;
}

export const DEFAULT_ADMISSION_LIMITS: AdmissionQueueLimits = { maxWaiting: 1_024, maxWaitMs: 5_000 };

interface AdmissionQueueOptions {
  /** Event-loop budget and counters. */
  readonly hub: Pick<Hub, "turn" | "counters">;
  readonly clock: Clock;
  readonly limits?: Partial<AdmissionQueueLimits> | undefined;
}

interface AdmissionRequest {
  readonly by: Claimant;
  /** The request's connection. */
  readonly socket: Duplex;
  /** The socket was detached from HTTP. */
  readonly isUpgraded: boolean;
}

const CHECK_LATE_MS = 250;

interface Waiting {
  readonly by: Claimant;
  readonly sinceMs: number;
  /** Ends the wait with admission or an error. */
  readonly end: (error?: FlarewireError) => void;
}

/**
 * Admits requests for events within the event loop's budget. After a failure, thousands of clients
 * return at once, and they must not delay the connected ones.
 *
 * Claimants take turns, keys before addresses. A request that waits for too long is refused with an
 * HTTP response. So is one request whenever another arrives at a full queue: see #makeRoom.
 */
export class AdmissionQueue {
  readonly #hub: AdmissionQueueOptions["hub"];
  readonly #clock: Clock;
  readonly #limits: AdmissionQueueLimits;
  readonly #waiting = new Set<Waiting>();
  #stopChecking: (() => void) | undefined;

  constructor({ hub, clock, limits }: AdmissionQueueOptions) {
    this.#hub = hub;
    this.#clock = clock;
    this.#limits = { ...DEFAULT_ADMISSION_LIMITS, ...limits };
  }

  /**
   * Runs `work` in turn. Rejects with its error, or with `over-capacity` if the request has to give
   * way in a full queue, waits for too long, or its connection closes first.
   */
  async admit<Result>(request: AdmissionRequest, work: () => Promise<Result>): Promise<Result> {
    const { admissions } = this.#hub.counters;
    await this.#enter(request);
    try {
      const result = await work();
      admissions.admitted += 1;
      return result;
    } catch (error) {
      admissions.refused += 1;
      throw error;
    }
  }

  #enter({ by, socket, isUpgraded }: AdmissionRequest): Promise<void> {
    const { counters, turn } = this.#hub;
    if (this.#waiting.size >= this.#limits.maxWaiting) this.#makeRoom(by);
    return new Promise((resolve, reject) => {
      const stops: (() => void)[] = [];
      const waiting: Waiting = {
        by,
        sinceMs: this.#clock.monotonic(),
        end: (error) => {
          if (!this.#waiting.delete(waiting)) return;
          counters.admissionsWaiting = this.#waiting.size;
          if (this.#waiting.size === 0) {
            this.#stopChecking?.();
            this.#stopChecking = undefined;
          }
          for (const stop of stops) stop();
          if (error) reject(error);
          else resolve();
        },
      };
      this.#waiting.add(waiting);
      counters.admissionsWaiting = this.#waiting.size;
      this.#stopChecking ??= this.#clock.every(CHECK_LATE_MS, () => this.#refuseLate());
      const takeBack = turn.run(() => {
        this.#refuseLate();
        waiting.end();
      }, by);
      if (!this.#waiting.has(waiting)) return;
      stops.push(takeBack);
      const unwatch = watchEnd(socket, isUpgraded, () => {
        counters.admissions.gone += 1;
        waiting.end(new FlarewireError("over-capacity", "the connection closed while it waited"));
      });
      stops.push(unwatch);
    });
  }

  #refuseLate(): void {
    const { maxWaitMs } = this.#limits;
    const lateMs = this.#clock.monotonic() - maxWaitMs;
    for (const waiting of this.#waiting) {
      if (waiting.sinceMs > lateMs) return;
      this.#hub.counters.admissions.late += 1;
      const bound = `${maxWaitMs} ms`;
      const message = `too many requests are waiting: this one waited for more than ${bound}`;
      waiting.end(overCapacity(message, bound, "queue-late"));
    }
  }

  /**
   * Refuses the newest request of the client with the most, among clients without a key if any
   * wait; or throws, if the arriving request must be refused. A key displaces clients without one,
   * never the reverse. Between equals, the arriving client must not end up with more waiting than
   * the other.
   */
  #makeRoom({ name, isKeyed }: Claimant): void {
    const lanes = Map.groupBy(this.#waiting, ({ by }) => by.name);
    const own = lanes.get(name)?.length ?? 0;
    const unkeyed = [...lanes.values()].filter(([first]) => !first?.by.isKeyed);
    const candidates = isKeyed && unkeyed.length === 0 ? [...lanes.values()] : unkeyed;
    const displaced = candidates.reduce((most, lane) => (lane.length > most.length ? lane : most), []);
    const bound = `${this.#limits.maxWaiting} requests wait`;
    this.#hub.counters.admissions.full += 1;
    const message = `more clients connect at once than can be admitted: ${bound}`;
    const full = overCapacity(message, bound, "queue-full");
    const last = displaced.at(-1);
    if (!last || (last.by.isKeyed === isKeyed && displaced.length < own + 2)) throw full;
    last.end(full);
  }
}

function overCapacity(message: string, bound: string, reason: RefusalReason): FlarewireError {
  return new FlarewireError("over-capacity", message, { bound, reason });
}

/**
 * Calls `gone` when the connection ends, at once if it has. Returns a function that stops watching.
 */
function watchEnd(socket: Duplex, isUpgraded: boolean, gone: () => void): () => void {
  if (socket.destroyed) {
    gone();
    return () => {};
  }
  socket.on("close", gone);
  if (!isUpgraded) return () => socket.off("close", gone);
  // Nothing else reads the socket now. Detect its end without taking bytes from it.
  const checkEnd = () => void socket.read(0);
  const ended = () => void socket.destroy();
  socket.on("readable", checkEnd).on("end", ended);
  return () => socket.off("close", gone).off("readable", checkEnd).off("end", ended);
}
