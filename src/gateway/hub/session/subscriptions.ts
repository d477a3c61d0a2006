import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import { type CommandId, FlarewireError } from "../../../base/protocol/index.ts";
import { channelsOf } from "../channel-mask.ts";
import { quote } from "./command-reader.ts";
import type { SelectionPart } from "./selection.ts";

/** A connection with several receives their union, each event once. */
export interface Subscription extends SelectionPart {
  readonly id: CommandId;
}

/** Most clients have one subscription, and most of them the same. They share it. */
const SHARED = new BoundedMap<string, readonly Subscription[]>(64);

/** Throws `duplicate-subscription`, `too-many-subscriptions` or `filter-conflict`. */
export function checkNew(
  subscriptions: readonly Subscription[],
  { id, mask, filter }: Subscription,
  max: number,
): void {
  if (subscriptions.some((existing) => existing.id === id)) {
    throw new FlarewireError(
      "duplicate-subscription",
      `id is ${quote(id)}, but a subscription with that id exists; use another id`,
      { field: "id" },
    );
  }
  if (subscriptions.length >= max) {
    const message = `the connection has ${subscriptions.length} subscriptions; the limit is ${max}`;
    throw new FlarewireError("too-many-subscriptions", message, { field: "id", bound: `${max}` });
  }
  const other = subscriptions.find(
    (existing) => existing.mask & mask && existing.filter?.key !== filter?.key,
  );
  if (other) {
    const shared = channelsOf(other.mask & mask).join(", ");
    const message = `subscription ${quote(other.id)} follows ${shared} with another filter; use that filter, or another connection`;
    throw new FlarewireError("filter-conflict", message, { field: "filter" });
  }
}

export function addTo(subscriptions: readonly Subscription[], added: Subscription): readonly Subscription[] {
  if (subscriptions.length > 0) return subscriptions.concat(added);
  const { id, mask, filter } = added;
  return SHARED.ensure(JSON.stringify([id, `${mask}`, filter?.key]), () => [added]);
}

/** Throws `unknown-subscription`. */
export function removeFrom(subscriptions: readonly Subscription[], id: CommandId): readonly Subscription[] {
  const at = subscriptions.findIndex((existing) => existing.id === id);
  if (at >= 0) return subscriptions.toSpliced(at, 1);
  const message = `id is ${quote(id)}, but no subscription has that id`;
  throw new FlarewireError("unknown-subscription", message, { field: "id" });
}
