import fc from "fast-check";
import { expect, test } from "vitest";
import { keyOf, type ListItem, type Snapshot } from "../../../src/base/model/index.ts";
import {
  advanceLists,
  applyEvent,
  CHANNELS,
  compileFilter,
  EMPTY_SNAPSHOT,
  EventBody,
  Filter,
  filterEvent,
  LIST_CHANNEL_NAMES,
  type Lists,
  listOf,
  listsOf,
  projectLists,
  type View,
} from "../../../src/base/protocol/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { arbitraryHistory, arbitrarySnapshot } from "../../support/random/arbitraries.ts";
import { assertReaching } from "../../support/random/assert-reaching.ts";
import { SAMPLE_FLARE } from "../../support/world/samples.ts";

const AT = Date.UTC(2017, 10, 12, 8, 21);

/** Returns the values that filters use, found independently of the code under test. */
function factsOf(item: ListItem): {
  readonly address: unknown;
  readonly symbol: unknown;
  readonly liquidity: unknown;
  readonly change: unknown;
} {
  const fields: Readonly<Record<string, unknown>> = { ...item };
  const inside = (value: unknown): Readonly<Record<string, unknown>> =>
    typeof value === "object" && value !== null ? { ...value } : {};
  const standing = "object" in fields ? inside(fields.object) : undefined;
  const flare = "streak" in fields ? inside(fields.flare) : (standing ?? fields);
  const token = inside(flare.token ?? fields.token ?? standing);
  const change = "streak" in fields ? fields.price_change_from_average : flare.recent_price_change;
  return { address: token.address, symbol: token.symbol, liquidity: flare.liquidity, change };
}

function meets({ tokens, symbols, min_liquidity, min_price_change }: Filter, item: ListItem): boolean {
  const { address, symbol, liquidity, change } = factsOf(item);
  const isOne = (value: unknown, of: readonly string[] | undefined) =>
    !of || of.some((one) => one.toLowerCase() === String(value ?? "").toLowerCase());
  const isEnough = (value: unknown, least: unknown) =>
    least === undefined || (value !== undefined && Number(value) >= Number(least));
  return (
    isOne(address, tokens) &&
    isOne(symbol, symbols) &&
    isEnough(liquidity, min_liquidity) &&
    isEnough(change, min_price_change)
  );
}

const histories = fc.oneof(
  fc.tuple(arbitraryHistory, arbitrarySnapshot).map(([{ before, after }, last]) => [before, after, last]),
  fc.tuple(arbitrarySnapshot, arbitraryHistory).map(([first, { before, after }]) => [first, before, after]),
);

const cases = histories.chain((snapshots) => {
  const flares = snapshots.flatMap(({ flares: { pro, free } }) => [...pro, ...free]);
  return fc.record({
    snapshots: fc.constant(snapshots),
    filter: fc.record(
      {
        tokens: fc.array(fc.constantFrom("0xab", ...flares.map(({ token }) => token.address)), {
          minLength: 1,
          maxLength: 4,
        }),
        min_liquidity: fc.constantFrom(0, ...flares.map(({ liquidity }) => Math.abs(Number(liquidity)))),
        min_price_change: fc.integer({ min: -50, max: 50 }),
      },
      { requiredKeys: [] },
    ),
  });
});

function expectHeld(view: View, snapshot: Snapshot, filter: Filter): void {
  for (const channel of LIST_CHANNEL_NAMES) {
    const passing = listOf(snapshot, channel).filter((item) => meets(filter, item));
    expect(listOf(view, channel).map(keyOf)).toEqual(passing.map(keyOf));
    expect(listOf(view, channel)).toEqual(passing);
  }
}

test("[W40] [L1] a client that applies its events has exactly the items that currently meet the filter", async () => {
  const totals = { events: 0, passed: 0, filtered: 0, surged: 0, crossedBySurge: 0 };
  await assertReaching(
    fc.property(cases, ({ snapshots, filter: given }) => {
      const filter = compileFilter(Filter.parse(given));
      const [first, ...others] = snapshots;
      if (!filter || !first) return;
      let lists: Lists = listsOf(first);
      let view: View = projectLists(lists, CHANNELS, filter);
      expectHeld(view, first, given);
      for (const after of others) {
        for (const event of toEvents(lists.snapshot, after, AT)) {
          const next = advanceLists(lists, event);
          const own = filterEvent(filter, { event, before: lists, after: next });
          lists = next;
          if (!own) continue;
          EventBody.parse(own);
          totals.events += 1;
          const cause = "cause" in own.data ? own.data.cause : undefined;
          if (cause === "passed") totals.passed += 1;
          if (cause === "filtered") totals.filtered += 1;
          if (own.name === "flare-surged") totals.surged += 1;
          else if (event.name === "flare-surged" && cause) totals.crossedBySurge += 1;
          view = applyEvent(view, JSON.parse(JSON.stringify(own)));
        }
        expectHeld(view, after, given);
        expect(view).toEqual(projectLists(lists, CHANNELS, filter));
      }
    }),
    lawRuns(24, 60),
    totals,
    { events: 4, passed: 4, filtered: 4, surged: 1, crossedBySurge: 1 },
  );
});

test("[W40] a flare that no longer meets the filter gets flare-withdrawn, and flare-started when it meets it again", () => {
  const filter = compileFilter({ min_price_change: 5 });
  if (!filter) throw new Error("no filter");
  const snapshotAt = (change: number): Snapshot => {
    const flare = { ...SAMPLE_FLARE, recent_price_change: change };
    const flares = { free: [], pro: [flare], finished_trending: [flare] };
    return { ...EMPTY_SNAPSHOT, flares };
  };
  let lists = listsOf(snapshotAt(12));
  const seen = [-5, 4.99, 5, 12].flatMap((change) =>
    toEvents(lists.snapshot, snapshotAt(change), AT).flatMap((event) => {
      const step = { event, before: lists, after: advanceLists(lists, event) };
      lists = step.after;
      const own = filterEvent(filter, step);
      return own ? [[change, own.channel, own.name, own.data] as const] : [];
    }),
  );
  const { id } = SAMPLE_FLARE;
  expect(seen.map(([change, channel, name]) => [change, channel, name])).toEqual([
    [-5, "flares.pro", "flare-withdrawn"],
    [-5, "flares.finished", "flare-expired"],
    [5, "flares.pro", "flare-started"],
    [5, "flares.finished", "flare-finished"],
    [12, "flares.pro", "flare-updated"],
    [12, "flares.finished", "flare-updated"],
  ]);
  expect(seen[0]?.[3]).toEqual({ op: "remove", id, cause: "filtered" });
  expect(seen[1]?.[3]).toEqual({ op: "remove", id, cause: "filtered" });
  expect(seen[2]?.[3]).toMatchObject({ op: "insert", index: 0, cause: "passed" });
});

test("[W40] with names, filters are sticky unless they state otherwise, and the response states which", () => {
  const names = ["flare-started", "flare-finished"] as const;
  const inForce = (given: Filter) => compileFilter(given)?.inForce.sticky;
  expect(inForce({ min_price_change: 5 })).toBe(false);
  expect(inForce({ min_price_change: 5, sticky: true })).toBe(true);
  expect(inForce({ min_price_change: 5, names: [...names] })).toBe(true);
  expect(inForce({ min_price_change: 5, names: [...names], sticky: false })).toBe(false);
  expect(inForce({ names: [...names] })).toBeUndefined();
  expect(compileFilter({ sticky: true })).toBeUndefined();
});
