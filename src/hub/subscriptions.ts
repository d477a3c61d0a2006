import { type CommandId, FlarewireError } from "../protocol/index.ts";
import { quote } from "./command-reader.ts";
import type { ChannelMask } from "./shape.ts";

/** The subscriptions of one connection. What is sent is their union, so a channel subscribed to twice over is sent once. */
export class Subscriptions {
  readonly #most: number;
  // A list, not a map: connections have few, and there are many connections.
  readonly #held: { readonly id: CommandId; readonly mask: ChannelMask }[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** The channels of all of them. */
  get mask(): ChannelMask {
    return this.#held.reduce((union, { mask }) => union | mask, 0);
  }

  /** Throws FlarewireError `duplicate-subscription` or `too-many-subscriptions` when there cannot be one more of this id. */
  check(id: CommandId): void {
    if (this.#held.some((held) => held.id === id)) {
      throw new FlarewireError(
        "duplicate-subscription",
        `id is ${quote(id)}, and a subscription of that id is there`,
        { field: "id" },
      );
    }
    if (this.#held.length >= this.#most) {
      const message = `there are ${this.#held.length} subscriptions; ${this.#most} is the most`;
      throw new FlarewireError("too-many-subscriptions", message, { field: "id", bound: `${this.#most}` });
    }
  }

  /** Takes one in that `check` let pass. */
  add(id: CommandId, mask: ChannelMask): void {
    this.#held.push({ id, mask });
  }

  /** Throws FlarewireError `unknown-subscription` when there is none of this id. */
  remove(id: CommandId): void {
    const at = this.#held.findIndex((held) => held.id === id);
    if (at >= 0) this.#held.splice(at, 1);
    else {
      const message = `id is ${quote(id)}, and there is no subscription of that id`;
      throw new FlarewireError("unknown-subscription", message, { field: "id" });
    }
  }
}
