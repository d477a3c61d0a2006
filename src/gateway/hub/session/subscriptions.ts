import { type CommandId, FlarewireError } from "../../../base/protocol/index.ts";
import { channelsOf } from "../channel-mask.ts";
import { quote } from "./command-reader.ts";
import { type Selection, type SelectionPart, selectionOf } from "./selection.ts";

/** One connection's subscriptions. The connection receives their union, each event once. */
export class Subscriptions {
  readonly #max: number;
  // Copied on each change: an array that is pushed to has spare capacity, in every connection.
  #subscriptions: readonly (SelectionPart & { readonly id: CommandId })[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  get selection(): Selection {
    return selectionOf(this.#subscriptions);
  }

  /** Throws `duplicate-subscription`, `too-many-subscriptions` or `filter-conflict`. */
  check(id: CommandId, { mask, filter }: SelectionPart): void {
    if (this.#subscriptions.some((existing) => existing.id === id)) {
      throw new FlarewireError(
        "duplicate-subscription",
        `id is ${quote(id)}, but a subscription with that id exists; use another id`,
        { field: "id" },
      );
    }
    if (this.#subscriptions.length >= this.#max) {
      const message = `the connection has ${this.#subscriptions.length} subscriptions; the limit is ${this.#max}`;
      throw new FlarewireError("too-many-subscriptions", message, { field: "id", bound: `${this.#max}` });
    }
    const other = this.#subscriptions.find(
      (existing) => existing.mask & mask && existing.filter?.key !== filter?.key,
    );
    if (other) {
      const shared = channelsOf(other.mask & mask).join(", ");
      const message = `subscription ${quote(other.id)} follows ${shared} with another filter; use that filter, or another connection`;
      throw new FlarewireError("filter-conflict", message, { field: "filter" });
    }
  }

  add(id: CommandId, { mask, filter }: SelectionPart): void {
    this.#subscriptions = this.#subscriptions.concat({ id, mask, filter });
  }

  /** Throws `unknown-subscription`. */
  remove(id: CommandId): void {
    const at = this.#subscriptions.findIndex((existing) => existing.id === id);
    if (at >= 0) this.#subscriptions = this.#subscriptions.toSpliced(at, 1);
    else {
      const message = `id is ${quote(id)}, but no subscription has that id`;
      throw new FlarewireError("unknown-subscription", message, { field: "id" });
    }
  }
}
