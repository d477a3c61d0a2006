import { type CloseReason, FlarewireError } from "../../../base/protocol/index.ts";
import type { HubLimits } from "../hub-limits.ts";
import type { Inbound } from "./command-reader.ts";
import { TokenBucket } from "./token-bucket.ts";

const NONE: readonly Inbound[] = [];

/** Limits and queues a client's commands, and counts rejections. */
export class CommandQueue {
  readonly #limits: HubLimits;
  // Copied on each change: V8 reserves about sixteen spare slots in an array that is pushed to.
  #waiting: readonly Inbound[] = NONE;
  // Created on demand: most clients send no command, and few send an invalid one.
  #commands: TokenBucket | undefined;
  #rateRefusals: TokenBucket | undefined;
  #invalidCommands: TokenBucket | undefined;

  constructor(limits: HubLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Counts a frame. Returns an error if it exceeds the rate. */
  countFrame(nowMs: number): FlarewireError | undefined {
    const { commandsPerSecond, commandsBurst } = this.#limits;
    this.#commands ??= new TokenBucket(commandsPerSecond, commandsBurst, nowMs);
    if (this.#commands.take(nowMs)) return undefined;
    const bound = `${commandsPerSecond} a second, ${commandsBurst} at once`;
    return new FlarewireError("rate-limited", `too many commands; the limit is ${bound}`, { bound });
  }

  /** Queues a command until it can be answered. Returns false if too many wait now. */
  defer(inbound: Inbound): boolean {
    this.#waiting = this.#waiting.concat(inbound);
    return this.#waiting.length <= this.#limits.queuedCommands;
  }

  /**
   * Removes and returns the first command, if `canAnswer` allows it. Commands never overtake one
   * another.
   */
  next(canAnswer: (inbound: Inbound) => boolean): Inbound | undefined {
    const first = this.#waiting[0];
    if (!first || !canAnswer(first)) return undefined;
    this.#waiting = this.#waiting.length === 1 ? NONE : this.#waiting.slice(1);
    return first;
  }

  clear(): void {
    this.#waiting = NONE;
  }

  /** Counts a rejection. Returns the close reason if there were too many of its kind. */
  countRejection({ code }: FlarewireError, nowMs: number): CloseReason | undefined {
    if (code === "rate-limited") {
      this.#rateRefusals ??= new TokenBucket(1, this.#limits.refusals, nowMs);
      return this.#rateRefusals.take(nowMs) ? undefined : "rate-limited";
    }
    this.#invalidCommands ??= new TokenBucket(1, this.#limits.refusals, nowMs);
    return this.#invalidCommands.take(nowMs) ? undefined : "bad-request";
  }
}
