import { type Claimant, FairQueue } from "./fair-queue.ts";

/** What catching up and letting in may take of one turn of the event loop before everything else has its turn again. */
const BUDGET_MS = 2;
/** The longest that those who come have for themselves behind a batch. */
const MAX_REST_MS = 50;
/** Nobody came for so long: nobody is coming. */
const QUIET_MS = 2;

/** How the budget goes on elsewhere in the event loop. */
export interface TurnSteps {
  /** In a later turn, behind the I/O of this one. Default setImmediate. */
  readonly defer?: (next: () => void) => void;
  /** In this turn, when all that follows from the work at once is done: the promises that it resolved, and those that these resolved. */
  readonly settle?: (next: () => void) => void;
}

type Work = () => void;

/** Nobody in particular: all work of the server itself, which takes turns with everybody else's together. */
const SERVER: Claimant = { name: "", isKeyed: false };

/**
 * Shares the event loop between those who are at the head on the one side, and on the other those who are caught up and those who come: in one turn hundreds of sockets may report room
 * or ask to be let in, and were each done with at once, a batch for all others would wait for the last of them. What does not fit into this turn's time is
 * done in the next ones, with I/O in between: by turns one work of the server's own, such as catching up, and one that a client asked for, where clients take turns too.
 *
 * The other way round, a batch to thousands takes a turn of tens of milliseconds, in which a single connection is accepted: Node's libuv accepts one each turn (libuv#3696). Where batches
 * follow one another without a pause, those who come would wait for a minute, until their clients or the system give them up. So between two batches they get time too: see `rest`.
 */
export class TurnBudget {
  readonly #monotonicMs: () => number;
  readonly #defer: (next: () => void) => void;
  readonly #settle: (next: () => void) => void;
  /** The server's own work, and what clients asked for. */
  readonly #own = new FairQueue<Work>();
  readonly #asked = new FairQueue<Work>();
  #isOwnTurn = false;
  /** When the first work of this turn began. */
  #beganMs: number | undefined;
  #renewing = false;
  #cameMs = Number.NEGATIVE_INFINITY;

  constructor(monotonicMs: () => number, { defer = setImmediate, settle = settled }: TurnSteps = {}) {
    this.#monotonicMs = monotonicMs;
    this.#defer = defer;
    this.#settle = settle;
  }

  /**
   * Does the work now if the turn has time left and nobody waits, else in a later turn. The work must not throw. `by`: the client that asked for it; default: nobody, it is the
   * server's own. Returns how to take the work back, which does nothing once it is done.
   */
  run(work: Work, by: Claimant = SERVER): () => void {
    this.#renew();
    if (this.#waiting === 0 && this.#hasTime()) {
      this.#do(work);
      return () => {};
    }
    const queue = by === SERVER ? this.#own : this.#asked;
    // A function of its own: a work that is given twice waits twice.
    const held = () => work();
    queue.push(held, by);
    return () => queue.delete(held, by);
  }

  /** Resolves when there is time to go on with what `by` asked for: between the parts of a long work. */
  pause(by?: Claimant): Promise<void> {
    return new Promise((resolve) => {
      this.run(resolve, by);
    });
  }

  /** A connection was accepted: others may wait behind it, whom nobody here sees. */
  arrived(): void {
    this.#cameMs = this.#monotonicMs();
  }

  /**
   * Behind something that held the event loop for `tookMs`, before the next thing of the kind: resolves when nobody comes or waits, or when they have had as much
   * time, 50 ms at most. `undefined` where nobody is there.
   */
  rest(tookMs: number): Promise<void> | undefined {
    const nowMs = this.#monotonicMs();
    const untilMs = nowMs + Math.min(tookMs, MAX_REST_MS);
    // Whoever was accepted just before that began is one behind whom others may have come meanwhile.
    return this.#isWanted(nowMs - tookMs) && untilMs > nowMs ? this.#rest(untilMs) : undefined;
  }

  async #rest(untilMs: number): Promise<void> {
    let nowMs: number;
    // The first turn says whether anybody has come in the time that the loop was held.
    this.arrived();
    do {
      await new Promise<void>((resolve) => this.#defer(resolve));
      nowMs = this.#monotonicMs();
    } while (nowMs < untilMs && this.#isWanted(nowMs));
  }

  #isWanted(nowMs: number): boolean {
    return this.#waiting > 0 || nowMs - this.#cameMs < QUIET_MS;
  }

  get #waiting(): number {
    return this.#own.size + this.#asked.size;
  }

  #next(): Work | undefined {
    this.#isOwnTurn = !this.#isOwnTurn;
    const [first, second] = this.#isOwnTurn ? [this.#own, this.#asked] : [this.#asked, this.#own];
    return first.shift() ?? second.shift();
  }

  #hasTime(): boolean {
    return this.#beganMs === undefined || this.#monotonicMs() - this.#beganMs < BUDGET_MS;
  }

  #do(work: () => void): void {
    this.#beganMs ??= this.#monotonicMs();
    work();
  }

  #renew(): void {
    if (this.#renewing) return;
    this.#renewing = true;
    this.#defer(() => {
      this.#renewing = false;
      this.#beganMs = undefined;
      this.#goOn();
    });
  }

  /** One after the other, each with what follows from it: else all would have begun before the first had taken any time. */
  #goOn(): void {
    const work = this.#hasTime() ? this.#next() : undefined;
    if (work) {
      this.#do(work);
      this.#settle(() => this.#goOn());
    } else if (this.#waiting > 0 || this.#beganMs !== undefined) this.#renew();
  }
}

/** Ticks come when no promise is left to be told of. */
function settled(next: () => void): void {
  queueMicrotask(() => process.nextTick(next));
}
