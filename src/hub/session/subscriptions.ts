import { type CommandId, FlarewireError } from "../../protocol/index.ts";
import { channelsOf } from "../channel-mask.ts";
import { quote } from "./command-reader.ts";
import { type Selection, type SelectionPart, selectionOf } from "./selection.ts";

/** The subscriptions of one connection. What is sent is their union, so a channel subscribed to twice over is sent once. */
export class Subscriptions {
  readonly #most: number;
  // A list, not a map, and copied at each change, so that it has no room to spare: connections have few, and there are many connections.
  #held: readonly (SelectionPart & { readonly id: CommandId })[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** What all of them follow. */
  get selection(): Selection {
    return selectionOf(this.#held);
  }

  /**
   * Throws FlarewireError when there cannot be one more of this id for these channels: `duplicate-subscription`, `too-many-subscriptions`, or
   * `filter-conflict` where a channel is followed with another filter.
   */
  check(id: CommandId, { mask, filter }: SelectionPart): void {
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
    const other = this.#held.find((held) => held.mask & mask && held.filter?.key !== filter?.key);
    if (other) {
      const shared = channelsOf(other.mask & mask).join(", ");
      const message = `${shared} is followed with another filter by the subscription ${quote(other.id)}`;
      throw new FlarewireError("filter-conflict", message, { field: "filter" });
    }
  }

  /** Takes one in that `check` let pass. */
  add(id: CommandId, { mask, filter }: SelectionPart): void {
    this.#held = this.#held.concat({ id, mask, filter });
  }

  /** Throws FlarewireError `unknown-subscription` when there is none of this id. */
  remove(id: CommandId): void {
    const at = this.#held.findIndex((held) => held.id === id);
    if (at >= 0) this.#held = this.#held.toSpliced(at, 1);
    else {
      const message = `id is ${quote(id)}, and there is no subscription of that id`;
      throw new FlarewireError("unknown-subscription", message, { field: "id" });
    }
  }
}
