import { expect, test } from "vitest";
import { withWholeUnits } from "../../../src/base/lib/text/percent.ts";
import type { EventMessage } from "../../../src/base/protocol/index.ts";
import { feedHash, readRoute } from "../../../src/clients/dashboard/route.ts";
import { describeEvent, lineOf, pastLines } from "../../../src/clients/dashboard/state/feed/feed-lines.ts";
import {
  createStartNotices,
  MAX_NEWS,
  newsKey,
  newsOf,
  RepeatFilter,
} from "../../../src/clients/dashboard/state/feed/news.ts";
import {
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_LISTING,
  SAMPLE_OUTCOME,
} from "../../support/world/samples.ts";

const event = (seq: number, name: string, channel: string, data: object): EventMessage =>
  ({
    type: "event",
    seq,
    cursor: `e-${seq}`,
    prev: seq - 1,
    name,
    channel,
    observed_at: "2026-01-01T00:00:00.000Z",
    data,
  }) as unknown as EventMessage;
const flare = { flare: SAMPLE_FLARE, why: SAMPLE_EXPLANATION };
const started = { ...flare, cause: "detected" };
const finished = { ...flare, cause: "faded", outcome: SAMPLE_OUTCOME };
const updated = (set: object, why?: object | null) =>
  event(1, "flare-updated", "flares.pro", { op: "set", id: SAMPLE_FLARE.id, set, why });

test("a start, surges and an end that several channels report appear once, newest first", () => {
  const surgeOf = (number: number) => ({ ...flare, surge: { number } });
  const newestFirst = [
    event(7, "flare-finished", "flares.finished", finished),
    event(6, "flare-finished", "flares.free", finished),
    event(5, "flare-finished", "flares.pro", finished),
    event(4.2, "flare-surged", "flares.pro", surgeOf(2)),
    event(4.1, "flare-surged", "flares.free", surgeOf(2)),
    event(4, "token-listed", "newest.bsc", { listing: SAMPLE_LISTING }),
    event(3.5, "flare-surged", "flares.pro", surgeOf(1)),
    event(3, "flare-started", "flares.free", { ...started, cause: "aged" }),
    updated({ liquidity: "1" }),
    event(1, "flare-started", "flares.pro", started),
  ];
  expect(newsOf(newestFirst).map(({ seq }) => seq)).toEqual([5, 4.1, 4, 3.5, 1]);
  // The stored and the live part of the feed overlap.
  expect(newsOf([...newestFirst, ...newestFirst]).map(({ seq }) => seq)).toEqual([5, 4.1, 4, 3.5, 1]);
});

test("a change that several channels report is one of every update, and entries into the free list stay", () => {
  const names = (seesPro: boolean) => {
    const repeats = new RepeatFilter();
    const set = { op: "set", id: SAMPLE_FLARE.id, set: { liquidity: "1" } };
    const withdrawn = (cause: string) => ({ op: "remove", id: SAMPLE_FLARE.id, cause });
    const events = [
      event(1, "flare-updated", "flares.free", set),
      event(2, "flare-updated", "flares.pro", set),
      event(3, "flare-started", "flares.free", { ...started, cause: "aged" }),
      event(4, "flare-withdrawn", "flares.free", withdrawn("canary")),
      event(5, "flare-finished", "flares.free", finished),
      event(6, "flare-finished", "flares.pro", finished),
      event(7, "flare-finished", "flares.finished", finished),
      event(8, "chart-updated", "charts.bsc", { changes: [] }),
    ];
    return events.filter((one) => !repeats.isRepeat(one, seesPro)).map(({ seq }) => seq);
  };
  expect(names(true)).toEqual([2, 3, 4, 6, 8]);
  // Without full access, no event is of `flares.pro`.
  expect(names(false).filter((seq) => seq !== 2)).toEqual([1, 3, 4, 5, 8]);
});

test("a flare's entry into the free list is news only without the list pro, and says that the flare has lasted at least 5 minutes", () => {
  const aged = event(2, "flare-started", "flares.free", { ...started, cause: "aged" });
  const start = event(1, "flare-started", "flares.pro", started);
  const seqs = (events: readonly EventMessage[], seesPro: boolean) =>
    newsOf(events, seesPro).map(({ seq }) => seq);
  expect(seqs([aged], false)).toEqual([2]);
  // Its start is older than the log, and the list has the flare.
  expect(seqs([aged], true)).toEqual([]);
  expect(seqs([aged, start], true)).toEqual([1]);
  // If a flare enters both lists at once, the event of the free list comes first.
  for (const seesPro of [true, false]) expect(seqs([start, aged], seesPro)).toEqual([1]);
  const lines = [aged, start].map((one) => lineOf({ event: one, token: SAMPLE_FLARE.token }));
  expect(lines.map(({ isAged }) => isAged)).toEqual([true, false]);
});

test("news older than the log comes from the history and the lists, each item once, newest first", () => {
  const running = { ...SAMPLE_FLARE, id: "running", started_trending_at: "2026-01-01T00:03:00.000Z" };
  const ended = { ...SAMPLE_FLARE, finished_trending_at: "2026-01-01T00:02:00.000Z" };
  const why = { started: null, why: SAMPLE_EXPLANATION };
  const records = [{ flare: ended, ...why, cause: "canary", outcome: SAMPLE_OUTCOME } as const];
  const explanations = { running: SAMPLE_EXPLANATION };
  for (const flares of [{ pro: [running] }, { free: [running] }]) {
    const news = (known: readonly string[]) => pastLines(records, { flares, explanations }, new Set(known));
    expect(news([])).toMatchObject([
      { key: "flare-started running", why: SAMPLE_EXPLANATION, isNow: true },
      { key: `flare-finished ${ended.id}`, cause: "canary", outcome: SAMPLE_OUTCOME },
      // The reason for its start is not stored.
      { key: `flare-started ${ended.id}`, why: null },
    ]);
    expect(news([`flare-finished ${ended.id}`, "flare-started running"]).map(({ name }) => name)).toEqual([
      "flare-started",
    ]);
  }
});

test("a number stays on one line with its unit", () => {
  expect(withWholeUnits("−3.4 % in 5 min, +12 % prior 5 min")).toBe(
    "−3.4\u00a0% in 5\u00a0min, +12\u00a0% prior 5\u00a0min",
  );
});

test("screen readers hear each flare once, when the visitor's plan receives it", () => {
  const start = (seq: number, symbol: string, channel: string, cause: string) => {
    const token = { ...SAMPLE_FLARE.token, symbol };
    return event(seq, "flare-started", channel, {
      ...started,
      cause,
      flare: { ...SAMPLE_FLARE, id: symbol, token },
    });
  };
  const ofPro = (seq: number, symbol: string) => start(seq, symbol, "flares.pro", "detected");
  const ofFree = (seq: number, symbol: string) => start(seq, symbol, "flares.free", "aged");
  const free = createStartNotices();
  expect(free([ofFree(1, "ONE")], false)).toBe("A flare has lasted at least 5 minutes: ONE");
  expect(free([ofFree(2, "TWO"), ofFree(1, "ONE")], false)).toBe(
    "A flare has lasted at least 5 minutes: TWO",
  );
  expect(free([ofFree(2, "TWO"), ofFree(1, "ONE")], false)).toBe("");
  const pro = createStartNotices();
  expect(pro([ofPro(2, "TWO"), ofPro(1, "ONE")], true)).toBe("2 flares started: TWO, ONE");
  const later = [ofFree(4, "ONE"), updated({ liquidity: "1" }), ofPro(2, "TWO"), ofPro(1, "ONE")];
  expect(pro(later, true)).toBe("");
  const many = ["A", "B", "C", "D", "E"].map((symbol, index) => ofPro(9 - index, symbol));
  expect(pro([...many, ...later], true)).toBe("5 flares started: A, B, C and 2 more");
});

test("updates, expiries, candles and status are no news", () => {
  for (const name of ["flare-updated", "chart-updated", "source-status", "flare-expired", "candles-closed"])
    expect(newsKey(event(1, name, "flares.pro", {}))).toBeUndefined();
  expect(MAX_NEWS).toBeGreaterThan(100);
});

test("an update is described by its values, not by the names of its fields", () => {
  const set = {
    recent_price_change: 16,
    latest_buy_count: 61,
    latest_sell_count: 14,
    liquidity: "25812.5",
    token: { ...SAMPLE_FLARE.token, price: "0.00001234" },
  };
  expect(describeEvent(updated(set))).toBe(
    "+16 % in 5 min, 61 buys, 14 sells, $25.8K liquidity, price 0.00001234",
  );
  expect(describeEvent(updated({ market_data: null }))).toBe("market data");
  // A reason has chips of its own.
  expect(describeEvent(updated({}, SAMPLE_EXPLANATION))).toBe("");
  expect(describeEvent(updated({}, null))).toBe("no values");
});

test("an item that leaves a list has left it, whether by its age or because the list is full", () => {
  const left = (name: string, channel: string) =>
    describeEvent(event(1, name, channel, { op: "remove", id: SAMPLE_FLARE.id }));
  expect(left("flare-expired", "flares.finished")).toBe("left the list of finished flares");
  expect(left("token-unlisted", "newest.bsc")).toBe("left the list of new tokens");
});

test("the address states whether the feed has every update", () => {
  for (const hasUpdates of [true, false])
    expect(readRoute(feedHash(hasUpdates))).toEqual({ page: "feed", hasUpdates });
});
