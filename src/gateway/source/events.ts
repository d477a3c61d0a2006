import { assertNever } from "../../base/lib/assert-never.ts";
import type { AnyFlare, AnyFlares, Explanation, Listing, Snapshot } from "../../base/model/index.ts";
import {
  diffCandles,
  type EventBody,
  type FlareChannel,
  FlareOutcome,
  LIST_CHANNELS,
} from "../../base/protocol/index.ts";
import { diffSnapshots, flareListOf, type ItemChange, type ListDiff } from "./diff.ts";

/** Two snapshots, and the event time of the second. */
type Scene = { readonly before: Snapshot; readonly after: Snapshot; readonly observed_at: string };

/**
 * Describes the difference between two snapshots as one batch of events. The batch turns each part
 * of `before` into the same part of `after` (law L1 of src/README.md). Throws `invalid-input` for a
 * key that occurs twice.
 *
 * Candles and flares of other groups come first: clients of `*` do not get those, but should get
 * the batch's last event, which marks its end. The flares of a group are in the order free, pro,
 * finished, so that a flare leaves the first two before it enters the third. In each channel come
 * removals, reordering, insertions from the top, then fields and outcomes.
 */
export function toEvents(before: Snapshot, after: Snapshot, observedAtMs: number): EventBody[] {
  const scene = { before, after, observed_at: new Date(observedAtMs).toISOString() };
  return [...candleEvents(scene), ...diffSnapshots(before, after).flatMap((diff) => listEvents(scene, diff))];
}

function candleEvents({ before, after, observed_at }: Scene): readonly EventBody[] {
  const data = diffCandles(before.candles, after.candles);
  return data ? [{ name: "candles-closed", channel: "candles", observed_at, data }] : [];
}

function listEvents(scene: Scene, diff: ListDiff): readonly EventBody[] {
  const { observed_at } = scene;
  switch (diff.kind) {
    case "flares":
      return [
        ...diff.changes.map((change) => flareEvent(scene, diff, change)),
        ...outcomeEvents(scene, diff),
      ];
    case "newest":
      return diff.changes.map((change) => tokenEvent(observed_at, change));
    case "chart": {
      const { channel, group, changes } = diff;
      return [{ name: "chart-updated", channel, observed_at, data: { group, changes: [...changes] } }];
    }
    case "leaderboard": {
      const { channel, group, changes } = diff;
      return [{ name: "leaderboard-updated", channel, observed_at, data: { group, changes: [...changes] } }];
    }
  }
}

type FlareListDiff = Extract<ListDiff, { kind: "flares" }>;

function flareEvent(scene: Scene, { channel, whys }: FlareListDiff, change: ItemChange<AnyFlare>): EventBody {
  const { observed_at } = scene;
  switch (change.op) {
    case "remove":
      return flareLeaves(scene, channel, change.id);
    case "insert": {
      const { op, index, item: flare } = change;
      const why = scene.after.explanations[flare.id] ?? null;
      if (listNameOf(channel) === "finished_trending") {
        const outcome = scene.after.outcomes[flare.id] ?? null;
        const data = { op, index, flare, why, cause: why?.finish_cause ?? "upstream", outcome };
        return { name: "flare-finished", channel, observed_at, data };
      }
      const cause = listNameOf(channel) === "free" ? "aged" : "detected";
      const odds = why?.odds === undefined ? {} : { odds: why.odds };
      return { name: "flare-started", channel, observed_at, data: { op, index, flare, why, cause, ...odds } };
    }
    case "set": {
      const why = whys.get(change.id);
      const surged = why && flareSurges(scene, channel, change, why);
      if (surged) return surged;
      const data = why === undefined ? change : { ...change, why };
      return { name: "flare-updated", channel, observed_at, data };
    }
    case "order":
      return { name: "flare-updated", channel, observed_at, data: change };
  }
}

/** Returns the event for a running flare whose explanation has a later surge than before. */
function flareSurges(
  { before, after, observed_at }: Scene,
  channel: FlareChannel,
  change: Extract<ItemChange<AnyFlare>, { op: "set" }>,
  why: Explanation,
): EventBody | undefined {
  const { surge } = why;
  const number = before.explanations[change.id]?.surge?.number ?? 0;
  if (!surge || surge.number <= number || listNameOf(channel) === "finished_trending") return undefined;
  const flare = find(flareListOf(after, channel), change.id);
  return flare && { name: "flare-surged", channel, observed_at, data: { ...change, flare, why, surge } };
}

/** Returns the event for a flare that left a list: it ended, was withdrawn, or expired. */
function flareLeaves(scene: Scene, channel: FlareListDiff["channel"], id: string): EventBody {
  const { after, observed_at } = scene;
  const [resource, name] = LIST_CHANNELS[channel];
  if (name === "finished_trending") {
    return { name: "flare-expired", channel, observed_at, data: { op: "remove", id } };
  }
  const lists: AnyFlares = after[resource];
  const finished = find(lists.finished_trending, id);
  const other = name === "free" ? lists.pro : lists.free;
  if (!finished && find(other, id)) {
    const { warnings = [] } = after.explanations[id] ?? {};
    const others = warnings.filter((warning) => warning !== "price-fallen");
    const isFallen = others.length < warnings.length && others.every((name) => name === "unlocked-liquidity");
    const cause = isFallen ? "fallen" : warnings.length > 0 ? "canary" : "upstream";
    const data = { op: "remove", id, cause } as const;
    return { name: "flare-withdrawn", channel, observed_at, data };
  }
  const flare = finished ?? lastForm(scene, channel, id);
  const why = scene.after.explanations[id] ?? scene.before.explanations[id] ?? null;
  const cause = why?.finish_cause ?? "upstream";
  const data = { op: "remove" as const, id, flare, why, cause, outcome: after.outcomes[id] ?? null };
  return { name: "flare-finished", channel, observed_at, data };
}

function outcomeEvents({ observed_at }: Scene, { channel, outcomes }: FlareListDiff): readonly EventBody[] {
  const { data: finished } = FlareOutcome.shape.channel.safeParse(channel);
  if (!finished) return [];
  return [...outcomes].map(([id, outcome]) => {
    const data = { op: "set" as const, id, set: {}, outcome };
    return { name: "flare-outcome", channel: finished, observed_at, data };
  });
}

/**
 * Returns the last served form of a flare that vanished without a finish. If it has no end time,
 * sets it to the time of the observation.
 */
function lastForm({ before, observed_at }: Scene, channel: FlareChannel, id: string): AnyFlare {
  const last = find(flareListOf(before, channel), id);
  if (!last) throw new RangeError(`flare ${id} is not in ${channel} of the previous snapshot`);
  return { ...last, finished_trending_at: last.finished_trending_at ?? observed_at };
}

function listNameOf(channel: FlareChannel) {
  return LIST_CHANNELS[channel][1];
}

function find(list: readonly AnyFlare[], id: string): AnyFlare | undefined {
  return list.find((flare) => flare.id === id);
}

function tokenEvent(observed_at: string, change: ItemChange<Listing>): EventBody {
  const channel = "newest.bsc";
  switch (change.op) {
    case "insert": {
      const { op, index, item: listing } = change;
      return { name: "token-listed", channel, observed_at, data: { op, index, listing } };
    }
    case "remove":
      return { name: "token-unlisted", channel, observed_at, data: change };
    case "set":
    case "order":
      return { name: "token-updated", channel, observed_at, data: change };
    default:
      return assertNever(change);
  }
}
