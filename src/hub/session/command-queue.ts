import { type CloseReason, FlarewireError } from "../../protocol/index.ts";
import type { HubLimits } from "../hub-limits.ts";
import type { Inbound } from "./command-reader.ts";
import { TokenBucket } from "./token-bucket.ts";

const NONE: readonly Inbound[] = [];

/** A client's commands: how many it may send, those that wait for their answer, and when patience ends. */
export class CommandQueue {
  readonly #limits: HubLimits;
  // Copied at each change: what was pushed to keeps room for sixteen more, for as long as the connection lasts.
  #parked: readonly Inbound[] = NONE;
  // Most clients never send a command, and few a wrong one: made when needed.
  #commands: TokenBucket | undefined;
  #tooFast: TokenBucket | undefined;
  #wrong: TokenBucket | undefined;

  constructor(limits: HubLimits) {
    this.#limits = limits;
  }

  /** Counts a frame; with the error when it is one more than the rate allows. */
  overRate(nowMs: number): FlarewireError | undefined {
    const { commandsPerSecond, commandsBurst } = this.#limits;
    this.#commands ??= new TokenBucket(commandsPerSecond, commandsBurst, nowMs);
    if (this.#commands.take(nowMs)) return undefined;
    const bound = `${commandsPerSecond} a second, ${commandsBurst} at once`;
    return new FlarewireError("rate-limited", `there were more commands than ${bound}`, { bound });
  }

  /** Keeps a command until it can be answered; false when too many wait. */
  park(inbound: Inbound): boolean {
    this.#parked = this.#parked.concat(inbound);
    return this.#parked.length <= this.#limits.parkedCommands;
  }

  /** The next that `canAnswer` allows, in order: nothing overtakes. */
  next(canAnswer: (inbound: Inbound) => boolean): Inbound | undefined {
    const first = this.#parked[0];
    if (!first || !canAnswer(first)) return undefined;
    this.#parked = this.#parked.length === 1 ? NONE : this.#parked.slice(1);
    return first;
  }

  /** Forgets what waits. */
  clear(): void {
    this.#parked = NONE;
  }

  /** Counts a refusal; why to close when there were too many of its kind. */
  refused({ code }: FlarewireError, nowMs: number): CloseReason | undefined {
    if (code === "rate-limited") {
      this.#tooFast ??= new TokenBucket(1, this.#limits.refusals, nowMs);
      return this.#tooFast.take(nowMs) ? undefined : "rate-limited";
    }
    this.#wrong ??= new TokenBucket(1, this.#limits.refusals, nowMs);
    return this.#wrong.take(nowMs) ? undefined : "bad-request";
  }
}
