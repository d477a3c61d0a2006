import { expect, test } from "vitest";
import { EMPTY_SNAPSHOT, type Flare, type Snapshot } from "../../../src/base/model/index.ts";
import {
  advanceLists,
  changesOf,
  compileFilter,
  type EventBody,
  type Filter,
  filterEvent,
  listsOf,
} from "../../../src/base/protocol/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { explanation, flare, snapshotOf } from "../../gateway/source/sample-snapshots.ts";
import { SAMPLE_BSC_CHART_ITEM } from "../../support/world/samples.ts";

const AT = Date.UTC(2017, 10, 12, 8, 21);

/** Returns the events between two snapshots for a client with this filter. */
function sentBetween(before: Snapshot, after: Snapshot, given: Filter): readonly EventBody[] {
  const filter = compileFilter(given);
  if (!filter) throw new Error("no filter");
  let lists = listsOf(before);
  return toEvents(before, after, AT).flatMap((event) => {
    const step = { event, before: lists, after: advanceLists(lists, event) };
    lists = step.after;
    return filterEvent(filter, step) ?? [];
  });
}

/** Like {@link sentBetween}, for these flares in `flares.pro`. */
const sent = (before: readonly Flare[], after: readonly Flare[], given: Filter) =>
  sentBetween(snapshotOf({ pro: [...before] }), snapshotOf({ pro: [...after] }), given);

const [a, b, c, d] = [flare("A"), flare("B"), flare("C"), flare("D")];
const ONLY_A_AND_C: Filter = { symbols: ["a", "c"] };

test("[W28] an order is sent only if it moves selected items", () => {
  const orders = (after: readonly Flare[]) => sent([a, b, c, d], after, ONLY_A_AND_C).map(({ data }) => data);
  expect(orders([b, a, d, c])).toEqual([]);
  expect(orders([d, b, a, c])).toEqual([]);
  expect(orders([c, b, a, d])).toEqual([{ op: "order", ids: [c.id, a.id] }]);
  expect(orders([d, c, a, b])).toEqual([{ op: "order", ids: [c.id, a.id] }]);
});

test("[W28] the index of a new item counts selected items only", () => {
  expect(sent([b, d, a], [b, d, a, c], ONLY_A_AND_C)).toMatchObject([
    { name: "flare-started", data: { op: "insert", index: 1, flare: { id: c.id } } },
  ]);
  expect(sent([b, d], [b, d, c], ONLY_A_AND_C)).toMatchObject([{ data: { index: 0 } }]);
});

test("[W40] a flare that no longer meets the filter is withdrawn, and its later events are not sent", () => {
  const [rising, fallen] = [
    { ...a, recent_price_change: 9 },
    { ...a, recent_price_change: 1 },
  ];
  const least: Filter = { min_price_change: 5 };
  expect(sent([rising], [fallen], least)).toMatchObject([
    { name: "flare-withdrawn", data: { op: "remove", id: a.id, cause: "filtered" } },
  ]);
  expect(sent([fallen], [], least)).toEqual([]);
  expect(sent([fallen], [{ ...fallen, latest_buy_count: 7 }], least)).toEqual([]);
});

test("[W45] [W28] [W40] a surge passes unchanged inside the filter, and makes its flare start or leave at the filter's limit", () => {
  const surge = { number: 1, at: "2017-11-12T08:30:00.000Z", price: "0.3", score: 6.5 };
  const why = explanation({ surge });
  const rising = (pct: number) => ({ ...a, recent_price_change: pct });
  const surged = (from: number, to: number, given: Filter) =>
    sentBetween(
      snapshotOf({ pro: [rising(from)] }, { A: explanation() }),
      snapshotOf({ pro: [rising(to)] }, { A: why }),
      given,
    );
  const least: Filter = { min_price_change: 5 };
  expect(surged(6, 40, least)).toMatchObject([
    { name: "flare-surged", data: { set: { recent_price_change: 40 }, flare: rising(40), why, surge } },
  ]);
  expect(surged(1, 40, least)).toMatchObject([
    { name: "flare-started", data: { op: "insert", index: 0, flare: rising(40), why, cause: "passed" } },
  ]);
  expect(surged(40, 1, least)).toMatchObject([
    { name: "flare-withdrawn", data: { op: "remove", id: a.id, cause: "filtered" } },
  ]);
  expect(surged(1, 2, least)).toEqual([]);
  const named: Filter = { ...least, names: ["flare-surged"] };
  expect(surged(6, 40, named)).toMatchObject([{ name: "flare-surged" }]);
  expect(surged(1, 40, named)).toEqual([]);
});

test("[W40] one event may remove and insert items of the filtered list, with correct indexes", () => {
  const chart = (...changes: readonly number[]): Snapshot => {
    const bsc = changes.map((price_change_from_average, at) => ({
      ...SAMPLE_BSC_CHART_ITEM,
      ...{ id: `chart-${at}`, price_change_from_average },
    }));
    return { ...EMPTY_SNAPSHOT, charts: { ...EMPTY_SNAPSHOT.charts, bsc } };
  };
  const [event, ...others] = sentBetween(chart(9, 9, 1, 9), chart(1, 1, 8, 9), { min_price_change: 5 });
  expect(others).toEqual([]);
  expect(event && changesOf(event)).toMatchObject([
    { op: "remove", id: "chart-0" },
    { op: "remove", id: "chart-1" },
    { op: "insert", index: 0, item: { id: "chart-2" } },
  ]);
});
