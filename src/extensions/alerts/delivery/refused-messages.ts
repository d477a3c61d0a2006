import type { QueuedAlert } from "../store/alert-store.ts";

/** How often a message is refused for its content until the next ones go on. */
export const MAX_REFUSALS = 3;

/** Before the first message of a queue. A notice has the position 0. */
export const START = -1;

/** The next message. `isAside`: all messages in the queue are set aside, and it is the oldest. */
interface Next {
  readonly queued: QueuedAlert;
  readonly isAside: boolean;
}

/**
 * Decides how the delivery continues while a receiver refuses messages for their content. After
 * {@link MAX_REFUSALS}, a message is set aside, and the next one is tried, once each until one is
 * accepted. A message that is set aside is dropped only if it is refused again right after another
 * one was accepted: a receiver that refuses everything has another trouble, and loses nothing.
 */
export class RefusedMessages {
  /** Position of the newest message that is set aside: all in the queue up to here are. */
  #upTo = START;
  #count = 0;
  #refusals = 0;
  /** Whether the last message was accepted. */
  #isAccepting = false;

  /** How many messages were set aside since the queue had none. */
  get count(): number {
    return this.#count;
  }

  /** Chooses the next message. `find` returns the first one after a position. */
  next(find: (after: number) => QueuedAlert | undefined): Next | undefined {
    const oldest = find(START);
    if (!oldest || oldest.at > this.#upTo) {
      this.#upTo = START;
      this.#count = 0;
      return oldest && { queued: oldest, isAside: false };
    }
    const untried = this.#isAccepting ? undefined : find(this.#upTo);
    return { queued: untried ?? oldest, isAside: !untried && !this.#isAccepting };
  }

  accepted(): void {
    this.#refusals = 0;
    this.#isAccepting = true;
  }

  /** Records a failure that does not depend on the message. */
  failed(): void {
    this.#isAccepting = false;
  }

  /** Records a refusal. Returns what happens with the message. */
  refused({ at }: QueuedAlert): "retried" | "set aside" | "kept aside" | "dropped" {
    const wasAccepting = this.#isAccepting;
    this.#isAccepting = false;
    if (at <= this.#upTo) return wasAccepting ? "dropped" : "kept aside";
    this.#refusals += 1;
    if (this.#refusals < MAX_REFUSALS) return "retried";
    this.#upTo = at;
    this.#count += 1;
    return "set aside";
  }
}
