import fc from "fast-check";
import { expect, test } from "vitest";
import {
  CANDLE_MINUTES,
  type Candle,
  Candles,
  EMPTY_SNAPSHOT,
  NO_CANDLES,
} from "../../../src/base/model/index.ts";
import {
  advanceLists,
  advanceSnapshot,
  applyCandles,
  diffCandles,
  EventBody,
  listsOf,
} from "../../../src/base/protocol/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";

const MINUTE_MS = 60_000;
const AT = Date.UTC(2017, 10, 12, 8);
const timeOf = (minute: number) => new Date(AT + minute * MINUTE_MS).toISOString();
const price = fc.constantFrom("1.5", "2", "0.001", null);

const candleAt = (minute: number): fc.Arbitrary<Candle> =>
  fc.record({
    open_at: fc.constant(timeOf(minute)),
    open: price,
    high: price,
    low: price,
    close: price,
    volume: fc.constantFrom("1", "20.5"),
    buys: fc.constantFrom(0, 3, null),
    sells: fc.constantFrom(0, 3, null),
  });

/** Candles of some minutes of the hour before the minute `closed`, counted from AT. */
const candlesBefore = (closed: number): fc.Arbitrary<Candles> => {
  const minutes = fc
    .uniqueArray(fc.integer({ min: 1, max: CANDLE_MINUTES }), { maxLength: 8 })
    .map((ages) => ages.toSorted((a, b) => b - a).map((age) => closed - age));
  const list = minutes.chain((some) => fc.tuple(...some.map(candleAt)));
  return fc
    .dictionary(fc.constantFrom("0xaa", "0xBB", "0xcc"), list, { maxKeys: 3 })
    .map((bsc) => (Object.keys(bsc).length === 0 ? NO_CANDLES : { closed_at: timeOf(closed), bsc }));
};
const anyCandles = fc.integer({ min: 0, max: 90 }).chain(candlesBefore);

test("[L1] the diff of two states of the candles turns the first into the second; equal states have none", () => {
  fc.assert(
    fc.property(anyCandles, anyCandles, (before, after) => {
      const change = diffCandles(before, after);
      if (change) expect(applyCandles(before, JSON.parse(JSON.stringify(change)))).toEqual(after);
      else expect(before).toEqual(after);
      expect(diffCandles(after, structuredClone(after))).toBeUndefined();
      expect(Candles.parse(after)).toEqual(after);
    }),
    { numRuns: 500 },
  );
});

test("[L1] at most one event brings the candles of a poll up to date, and it leaves the marks of the lists unchanged", () => {
  fc.assert(
    fc.property(anyCandles, anyCandles, (before, after) => {
      const [was, is] = [before, after].map((candles) => ({ ...SAMPLE_SNAPSHOT, candles }));
      if (!was || !is) return;
      const events = toEvents(was, is, AT);
      expect(events.length).toBeLessThanOrEqual(1);
      for (const event of events) expect(EventBody.parse(event)).toEqual(event);
      expect(events.reduce(advanceSnapshot, was)).toEqual(is);
      const lists = listsOf(was);
      const later = events.reduce(advanceLists, lists);
      expect(later.snapshot).toEqual(is);
      expect(later.marks).toBe(lists.marks);
    }),
    { numRuns: 100 },
  );
});

test("[F1] the event of the candles comes first in its batch, so a client without candles gets the batch's last event", () => {
  const candles = { closed_at: timeOf(1), bsc: { "0xaa": [] } };
  const events = toEvents({ ...SAMPLE_SNAPSHOT, candles }, EMPTY_SNAPSHOT, AT);
  expect(events.filter(({ channel }) => channel === "candles")).toEqual(events.slice(0, 1));
  expect(events.length).toBeGreaterThan(1);
});

test("a minute without new candles changes closed_at alone", () => {
  const candles = { closed_at: timeOf(1), bsc: { "0xaa": [] } };
  const later = { closed_at: timeOf(2), bsc: { "0xaa": [] } };
  expect(diffCandles(candles, later)).toEqual({ group: "bsc", closed_at: timeOf(2), tokens: [], gone: [] });
});
