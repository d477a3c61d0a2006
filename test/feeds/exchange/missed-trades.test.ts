import { describe, expect, test } from "vitest";
import { REORDER_MS } from "../../../src/feeds/exchange/trade-ids.ts";
import type { VenueRequest, VenueTrade } from "../../../src/feeds/exchange/venue.ts";
import { VenueTrades } from "../../../src/feeds/exchange/venue-trades.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { settle, tradeAt } from "./scripted-venue.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);

/** Follows pairs of an exchange whose answers the test decides, with pages of two trades. */
function followed(pairs: readonly string[], answer: (url: string) => readonly VenueTrade[] | undefined) {
  const clock = new ManualClock(START);
  const stop = new AbortController();
  const asked: string[] = [];
  const emitted: string[] = [];
  const notices: string[] = [];
  const trades = new VenueTrades({
    venue: {
      trades: {
        ...{ pageSize: 2, maxPages: 3, read: () => [] },
        request: (pair, { afterId, beforeId }, page) => ({ url: `${pair} ${afterId}-${beforeId} ${page}` }),
      },
    },
    clock,
    signal: stop.signal,
    nowMs: () => clock.now(),
    // The answer is taken as it is, because the exchanges' readers have tests of their own.
    ask: async <T>({ url }: VenueRequest) => {
      asked.push(url);
      return answer(url) as T | undefined;
    },
    onTrade: (pair, { id }, isPast) => emitted.push(`${pair} ${id}${isPast ? " past" : ""}`),
    notify: (_level, words) => notices.push(words),
  });
  trades.follow(new Set(pairs));
  const take = (pair: string, ...ids: readonly number[]) => {
    for (const id of ids) trades.take(pair, tradeAt(id, clock.now()));
  };
  const pass = async (ms: number) => {
    await settle();
    clock.advance(ms);
    await settle();
  };
  return { clock, stop, asked, emitted, notices, trades, take, pass };
}

describe("missed trades", () => {
  test("are requested page by page a second after the jump, and follow in order", async () => {
    const pages = [
      [tradeAt(3, START), tradeAt(2, START)],
      [tradeAt(4, START), tradeAt(5, START)],
    ];
    const { asked, emitted, notices, take, pass } = followed(["A"], (url) => pages[Number(url.at(-1))]);
    take("A", 1, 6, 7);
    await pass(REORDER_MS - 1);
    expect(asked).toEqual([]);
    await pass(1);
    expect(asked).toEqual(["A 1-6 0", "A 1-6 1"]);
    expect(emitted).toEqual(["A 1", "A 6", "A 7", "A 2 past", "A 3 past", "A 4 past", "A 5 past"]);
    expect(notices).toEqual(["was asked for missed trades of 1 markets and returned 4"]);
  });

  test("with an impossible time are dropped and counted, also from an answer", async () => {
    const answer = [tradeAt(2, 0), tradeAt(3, START + MINUTE)];
    const { emitted, notices, take, pass, trades } = followed(["A"], (url) =>
      url.endsWith(" 0") ? answer : [],
    );
    take("A", 1, 4);
    expect(trades.trouble).toBeUndefined();
    await pass(REORDER_MS);
    expect(trades.trouble).toBe("did not return some trades of the last minutes");
    expect(emitted).toEqual(["A 1", "A 4"]);
    expect(notices).toContain("sent 2 unusable trades");
    expect(notices).toContain("was asked for missed trades of 1 markets and returned 0; 2 are lost");
    await pass(5 * MINUTE);
    expect(trades.trouble).toBeUndefined();
  });

  test("are not requested if they arrive within a second", async () => {
    const { asked, emitted, notices, take, pass } = followed(["A"], () => undefined);
    take("A", 1, 4, 2, 3);
    await pass(REORDER_MS);
    expect([asked, notices, emitted]).toEqual([[], [], ["A 1", "A 4", "A 2", "A 3"]]);
  });

  test("are lost beyond the maximum number of pages, and their number is reported", async () => {
    let next = 2;
    const { asked, emitted, notices, take, pass } = followed(["A"], () => {
      next += 2;
      return [tradeAt(next - 2, START), tradeAt(next - 1, START)];
    });
    take("A", 1, 101);
    await pass(REORDER_MS);
    expect(asked).toHaveLength(3);
    expect(emitted).toHaveLength(2 + 6);
    expect(notices).toEqual(["was asked for missed trades of 1 markets and returned 6; 93 are lost"]);
  });

  test("are lost if the exchange does not answer for two minutes", async () => {
    const { asked, notices, take, pass, clock } = followed(["A", "B"], () => {
      clock.advance(MINUTE);
      return undefined;
    });
    for (let id = 1; id <= 40; id += 2) take("A", id);
    await pass(REORDER_MS);
    for (let round = 0; round < 10; round++) await pass(1_000);
    expect(asked.length).toBeLessThanOrEqual(8);
    expect(notices).toEqual(["was asked for missed trades of 1 markets and returned 0; 19 are lost"]);
  });

  test("of a market that is no longer followed are not requested", async () => {
    const { asked, emitted, trades, take, pass } = followed(["A"], () => [tradeAt(2, START)]);
    take("A", 1, 3);
    trades.follow(new Set(["B"]));
    trades.follow(new Set(["A"]));
    await pass(REORDER_MS);
    take("A", 2);
    expect([asked, emitted]).toEqual([[], ["A 1", "A 3", "A 2"]]);
  });

  test("are reported at most every ten seconds, and then together", async () => {
    const { notices, take, pass } = followed(["A"], () => undefined);
    for (const id of [1, 3, 5]) {
      take("A", id);
      await pass(REORDER_MS + 1);
    }
    expect(notices).toEqual(["was asked for missed trades of 1 markets and returned 0; 1 are lost"]);
    await pass(10_000);
    take("A", 8);
    await pass(REORDER_MS);
    expect(notices.slice(1)).toEqual(["was asked for missed trades of 1 markets and returned 0; 3 are lost"]);
  });

  test("are not waited for after a stop", async () => {
    const { asked, notices, stop, take, pass } = followed(["A"], () => undefined);
    take("A", 1, 3);
    await settle();
    stop.abort();
    await pass(REORDER_MS);
    expect([asked, notices]).toEqual([[], []]);
  });
});

test("trades of other pairs, from the future or of more than an hour ago are dropped, counted and reported to the caller, whose clock they must not move", () => {
  const { clock, emitted, notices, trades } = followed(["A"], () => undefined);
  const now = clock.now();
  const impossible = [
    trades.take("B", tradeAt(1, now)),
    trades.take("A", tradeAt(1, now + 1_001)),
    trades.take("A", tradeAt(1, now - 60 * MINUTE - 1)),
  ];
  expect(impossible).toEqual([false, false, false]);
  expect([emitted, trades.unusable]).toEqual([[], 3]);
  expect(trades.take("A", tradeAt(1, now + 1_000))).toBe(true);
  trades.take("A", tradeAt(2, now - 60 * MINUTE));
  expect(emitted).toEqual(["A 1", "A 2"]);
  trades.report();
  trades.report();
  expect(notices).toEqual(["sent 3 unusable trades"]);
});

test("a restart of the ids is reported as a loss of unknown size", () => {
  const { emitted, notices, trades, take, clock } = followed(["A"], () => undefined);
  take("A", 5_000_000);
  clock.advance(1);
  take("A", 1);
  trades.report();
  expect(emitted).toEqual(["A 5000000", "A 1"]);
  expect(notices).toEqual([
    "was asked for missed trades of 1 markets and returned 0; an unknown number of 1 markets is lost",
  ]);
});
