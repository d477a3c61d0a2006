import fc from "fast-check";
import { expect, test } from "vitest";
import {
  advanceLists,
  applyEvent,
  CHANNELS,
  changesOf,
  compileFilter,
  EMPTY_SNAPSHOT,
  EVENT_NAMES,
  EventBody,
  Filter,
  filterEvent,
  type ListFilter,
  type Lists,
  listsOf,
  projectLists,
  touchedBy,
  type View,
} from "../../../src/base/protocol/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { arbitraryHistory, arbitrarySnapshot } from "../../support/random/arbitraries.ts";
import { assertReaching } from "../../support/random/assert-reaching.ts";

const AT = Date.UTC(2017, 10, 12, 8, 21);

/** Three successive snapshots, which may or may not share items. */
const histories = fc.oneof(
  fc.tuple(arbitraryHistory, arbitrarySnapshot).map(([{ before, after }, last]) => [before, after, last]),
  fc.tuple(arbitrarySnapshot, arbitraryHistory).map(([first, { before, after }]) => [first, before, after]),
);

/** Snapshots, and a filter with values from their items. */
const cases = histories.chain((snapshots) => {
  const items = snapshots.flatMap(({ flares, newest }) => [...flares.pro, ...flares.free, ...newest.bsc]);
  const tokens = items.map(({ token }) => token.address);
  const pairs = snapshots.flatMap((snapshot) =>
    snapshot["flares.exchange"].pro.map(({ pair }) => pair ?? ""),
  );
  const symbols = [...items.map(({ token }) => token.symbol), ...pairs].filter((symbol) => symbol !== "");
  const some = (values: readonly string[]) =>
    fc.array(
      fc
        .tuple(fc.constantFrom("0xab", ...values), fc.boolean())
        .map(([value, folded]) => (folded ? value.toLowerCase() : value)),
      { minLength: 1, maxLength: 4 },
    );
  return fc.record({
    snapshots: fc.constant(snapshots),
    filter: fc
      .record(
        {
          sticky: fc.constant(true),
          tokens: some(tokens),
          symbols: some(symbols.map((symbol) => symbol.slice(0, 64))),
          min_liquidity: fc.oneof(
            fc.constantFrom(...items.map(({ liquidity }) => Math.abs(Number(liquidity))), 0),
          ),
          min_price_change: fc.integer({ min: -50, max: 50 }),
        },
        { requiredKeys: ["sticky"] },
      )
      .filter((given) => Object.keys(given).length > 1),
  });
});

interface Played {
  readonly lists: Lists;
  readonly view: View;
}

function play(filter: ListFilter, from: Played, events: readonly EventBody[], seen: EventBody[]): Played {
  return events.reduce(({ lists, view }, event) => {
    const after = advanceLists(lists, event);
    const own = filterEvent(filter, { event, before: lists, after });
    if (own) seen.push(own);
    const next = own ? applyEvent(view, JSON.parse(JSON.stringify(own))) : view;
    return { lists: after, view: next };
  }, from);
}

test("[W28] a filtered snapshot plus the filtered events is the later filtered snapshot", async () => {
  const totals = { events: 0, passed: 0, surged: 0, held: 0, left: 0 };
  await assertReaching(
    fc.property(cases, ({ snapshots, filter: given }) => {
      const filter = compileFilter(Filter.parse(given));
      const [first, ...others] = snapshots;
      if (!filter || !first) return;
      let before = first;
      const start = listsOf(first);
      let now: Played = { lists: start, view: projectLists(start, CHANNELS, filter) };
      for (const after of others) {
        const seen: EventBody[] = [];
        now = play(filter, now, toEvents(before, after, AT), seen);
        expect(now.lists.snapshot).toEqual(after);
        expect(now.view).toEqual(projectLists(now.lists, CHANNELS, filter));
        for (const event of seen) EventBody.parse(event);
        totals.events += seen.length;
        totals.surged += seen.filter(({ name }) => name === "flare-surged").length;
        totals.passed += seen.filter(({ data }) => "cause" in data && data.cause === "passed").length;
        before = after;
      }
      const { flares } = now.view;
      totals.held += flares?.pro?.length ?? 0;
      totals.left += now.lists.snapshot.flares.pro.length - (flares?.pro?.length ?? 0);
    }),
    lawRuns(40),
    totals,
    { events: 140, passed: 10, surged: 3, held: 10, left: 10 },
  );
});

test("[W28] the same holds for the age, which explanations state, with and without `sticky`", async () => {
  const totals = { events: 0, held: 0, left: 0 };
  await assertReaching(
    fc.property(histories, fc.nat(3_600), fc.boolean(), ([first, ...others], min_age, sticky) => {
      const filter = compileFilter({ min_age, sticky });
      if (!filter || !first) return;
      const start = listsOf(first);
      let now: Played = { lists: start, view: projectLists(start, CHANNELS, filter) };
      for (const after of others) {
        const seen: EventBody[] = [];
        now = play(filter, now, toEvents(now.lists.snapshot, after, AT), seen);
        expect(now.view).toEqual(projectLists(now.lists, CHANNELS, filter));
        totals.events += seen.length;
      }
      const held = now.view.flares?.pro?.length ?? 0;
      totals.held += held;
      totals.left += now.lists.snapshot.flares.pro.length - held;
    }),
    lawRuns(40),
    totals,
    { events: 10, held: 3, left: 10 },
  );
});

test("[W28] the lists of a client that joins later equal the filtered lists that were followed from the start", () => {
  fc.assert(
    fc.property(cases, ({ snapshots, filter: given }) => {
      const filter = compileFilter(Filter.parse(given));
      const [first, second, third] = snapshots;
      if (!filter || !first || !second || !third) return;
      const walk = (lists: Lists, a: typeof first, b: typeof first) =>
        toEvents(a, b, AT).reduce(advanceLists, lists);
      const middle = walk(listsOf(first), first, second);
      const fresh = { lists: middle, view: projectLists(middle, CHANNELS, filter) };
      const behind = play(filter, fresh, toEvents(second, third, AT), []);
      expect(behind.view).toEqual(projectLists(walk(middle, second, third), CHANNELS, filter));
    }),
    lawRuns(12, 20),
  );
});

test("[W28] a client with a token filter gets only events that affect its tokens or symbols", async () => {
  const totals = { sent: 0, orders: 0, unaffected: 0 };
  await assertReaching(
    fc.property(cases, fc.boolean(), ({ snapshots, filter: { tokens, symbols } }, sticky) => {
      const filter = compileFilter(
        Filter.parse(tokens ? { tokens, sticky } : { symbols: symbols ?? ["none"], sticky }),
      );
      const named = filter?.tokens ?? filter?.symbols ?? new Set();
      let lists = listsOf(snapshots[0] ?? EMPTY_SNAPSHOT);
      for (const after of snapshots.slice(1)) {
        for (const event of toEvents(lists.snapshot, after, AT)) {
          const step = { event, before: lists, after: advanceLists(lists, event) };
          lists = step.after;
          const affected = tokens ? touchedBy(step).tokens : touchedBy(step).symbols;
          const isAffected = affected.some((name) => named.has(name));
          if (!isAffected) totals.unaffected += 1;
          if (!filter || !filterEvent(filter, step)) continue;
          totals.sent += 1;
          if (changesOf(event).some(({ op }) => op === "order")) totals.orders += 1;
          expect(isAffected).toBe(true);
        }
      }
    }),
    lawRuns(12, 20),
    totals,
    { sent: 3, orders: 3, unaffected: 3 },
  );
});

test("[W29] with names, only these events are sent, unchanged", () => {
  fc.assert(
    fc.property(
      arbitraryHistory,
      fc.subarray(EVENT_NAMES, { minLength: 1 }),
      fc.boolean(),
      (way, names, sticky) => {
        const { before, after } = way;
        const given = { min_price_change: 0, sticky };
        const [named, all] = [compileFilter({ names, ...given }), compileFilter(given)];
        if (!named || !all) throw new Error("no filter");
        const [sent, reported]: [EventBody[], EventBody[]] = [[], []];
        const start = { lists: listsOf(before), view: projectLists(listsOf(before), CHANNELS, all) };
        play(all, start, toEvents(before, after, AT), reported);
        for (const event of reported) if (names.includes(event.name)) sent.push(event);
        let lists = listsOf(before);
        const own = toEvents(before, after, AT).flatMap((event) => {
          const step = { event, before: lists, after: advanceLists(lists, event) };
          lists = step.after;
          return filterEvent(named, step) ?? [];
        });
        expect(own).toEqual(sent);
      },
    ),
    lawRuns(12, 20),
  );
});

test("[W27] filters that differ only in order, case and number format have the same key", () => {
  const one = compileFilter({
    tokens: ["0xAB", "0xcd", "0xab"],
    symbols: ["b", "A"],
    min_liquidity: "10.50",
  });
  const other = compileFilter({ min_liquidity: 10.5, symbols: ["a", "B"], tokens: ["0xCD", "0xab"] });
  expect(one?.key).toBe(other?.key);
  expect(compileFilter({})).toBeUndefined();
  expect(compileFilter({ min_liquidity: 0 })?.key).not.toBe(compileFilter({ min_price_change: 0 })?.key);
});
