import type { Duplex } from "node:stream";
import type { Hub } from "../hub/index.ts";
import type { WallClock } from "../lib/clock.ts";
import { FlarewireError } from "../protocol/index.ts";

/** Who may wait to be let in, and how long. */
export interface AdmissionLimits {
  /** Requests that wait; default 1,024. A client that waits is a request and its answer in memory, some 20 kB. 1 or more. */
  readonly mostWaiting: number;
  /** How long one waits; default 5,000: clients give a handshake up after about 10 seconds. */
  readonly longestWaitMs: number;
}

/** The defaults named at each limit. */
export const DEFAULT_ADMISSION_LIMITS: AdmissionLimits = { mostWaiting: 1_024, longestWaitMs: 5_000 };

/** What a queue is made of. */
export interface AdmissionQueueOptions {
  /** Whose turn is shared, and who counts. */
  readonly hub: Pick<Hub, "turn" | "tally">;
  readonly clock: WallClock;
  readonly limits?: Partial<AdmissionLimits> | undefined;
}

/** How often those are looked for who have waited for too long. */
const LOOK_MS = 250;

interface Waiting {
  readonly sinceMs: number;
  readonly admit: () => void;
  readonly refuse: (error: FlarewireError) => void;
}

/**
 * Lets in those who want to follow events, or to read what they missed, in the order in which they came, no faster than the turn's time allows (see TurnBudget): thousands come back at once when a
 * network was away, and those who stayed must not pay for it. How many wait is bounded, and for how long; who is beyond that is refused while it is still HTTP, and may come again.
 */
export class AdmissionQueue {
  readonly #hub: AdmissionQueueOptions["hub"];
  readonly #clock: WallClock;
  readonly #limits: AdmissionLimits;
  readonly #waiting = new Set<Waiting>();
  /** Works that were asked of the turn, each to let one in: never fewer than wait, and never more than may, however many leave. */
  #asked = 0;
  #stopLooking: (() => void) | undefined;

  constructor({ hub, clock, limits }: AdmissionQueueOptions) {
    this.#hub = hub;
    this.#clock = clock;
    this.#limits = { ...DEFAULT_ADMISSION_LIMITS, ...limits };
  }

  /**
   * Resolves when it is the turn of a request that came over `socket`: at once, if the turn has time and nobody waits. Rejects with FlarewireError `over-capacity` where too many wait, when
   * it has waited for too long, and when the connection ends, whose answer nobody reads. A server that stops refuses when the turn has come, like one that does not. `isUpgraded`: HTTP has let go of the socket.
   */
  enter(socket: Duplex, isUpgraded: boolean): Promise<void> {
    const { tally } = this.#hub;
    const { mostWaiting } = this.#limits;
    if (this.#waiting.size >= mostWaiting) return Promise.reject(this.#full(`${mostWaiting} requests wait`));
    let isAdmitted = false;
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        sinceMs: this.#clock.monotonic(),
        admit: () => {
          isAdmitted = true;
          leave();
          tally.admissions.admitted += 1;
          resolve();
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const gone = () => {
        tally.admissions.gone += 1;
        waiting.refuse(new FlarewireError("over-capacity", "the connection ended while it waited"));
      };
      let unwatch = () => {};
      const leave = () => {
        unwatch();
        this.#remove(waiting);
      };
      this.#add(waiting);
      this.#ask();
      if (!isAdmitted) unwatch = watchEnd(socket, isUpgraded, gone);
    });
  }

  #add(waiting: Waiting): void {
    this.#waiting.add(waiting);
    this.#hub.tally.admissionsWaiting = this.#waiting.size;
    this.#stopLooking ??= this.#clock.every(LOOK_MS, () => this.#refuseLate());
  }

  #remove(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#hub.tally.admissionsWaiting = this.#waiting.size;
    if (this.#waiting.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  #ask(): void {
    if (this.#asked >= this.#waiting.size) return;
    this.#asked += 1;
    this.#hub.turn.run(() => {
      this.#asked -= 1;
      this.#admitNext();
    });
  }

  #admitNext(): void {
    this.#refuseLate();
    // There is nobody where somebody has left.
    const [next] = this.#waiting;
    next?.admit();
  }

  #refuseLate(): void {
    const { longestWaitMs } = this.#limits;
    const lateMs = this.#clock.monotonic() - longestWaitMs;
    // In the order in which they came.
    for (const waiting of this.#waiting) {
      if (waiting.sinceMs > lateMs) return;
      this.#hub.tally.admissions.late += 1;
      const bound = `${longestWaitMs} ms`;
      waiting.refuse(overCapacity(`so many come that it waited for more than ${bound}`, bound));
    }
  }

  #full(bound: string): FlarewireError {
    this.#hub.tally.admissions.full += 1;
    return overCapacity(`more clients come at once than can be let in: ${bound}`, bound);
  }
}

function overCapacity(message: string, bound: string): FlarewireError {
  return new FlarewireError("over-capacity", message, { bound });
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
