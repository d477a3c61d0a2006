import { describe, expect } from "vitest";
import type { Trade } from "../../../src/base/market/index.ts";
import { test } from "../../support/time/still-running.ts";
import { until } from "./scripted-venue.ts";
import type { MadeTrade } from "./stand-in-trades.ts";
import { followTrades } from "./trades-kit.ts";

/** What the feed has to emit of the trades that an exchange made. */
const expected = (made: readonly MadeTrade[]) =>
  made.map(({ at, side, price, amount }) => ({ at, side, price, amount }));
/** The emitted trades in the order of their own times. */
const emitted = (trades: readonly Trade[]) =>
  trades
    .map(({ at, tradedAt = at, side, price, amount }) => ({ at: tradedAt, side, price, amount }))
    .toSorted((one, two) => one.at - two.at || Number(one.price) - Number(two.price));

describe.each(["binance", "kucoin", "gate"] as const)("the trades of %s", (name) => {
  test("are emitted once each and in order, whatever is repeated or comes out of order", async () => {
    await using run = await followTrades(name);
    const { server, trades, late, make, arrived, clock } = run;
    const made: MadeTrade[] = [];
    for (let round = 0; round < 5; round++) {
      const some = make(8);
      made.push(...some);
      const [a, b, c, d, ...rest] = some as [MadeTrade, MadeTrade, MadeTrade, MadeTrade, ...MadeTrade[]];
      server.deliver(a, c, b, b, d, ...rest.toReversed(), a, c, ...rest);
      const now = clock.now();
      await until("time passes", () => clock.now() > now + 2_000);
    }
    await arrived(made.length);
    expect(trades.map(({ price }) => price)).toEqual(made.map(({ price }) => price));
    expect(emitted(trades)).toEqual(expected(made));
    expect(trades[0]).toEqual({
      ...{ kind: "trade", at: made[0]?.at, group: "exchange", pool: "SOL/USDT", token: "SOL" },
      ...{ side: "buy", price: "1.00100000", amount: "11", quoteUsd: "11.011" },
    });
    expect(trades.filter(({ tradedAt }) => tradedAt !== undefined)).toEqual([]);
    expect(late).toEqual([]);
  });

  test("that an interruption cost are requested, and follow once each as past trades", async () => {
    await using run = await followTrades(name);
    const { server, trades, late, make, miss, arrived, notices } = run;
    const made = [...make(3)];
    server.deliver(...made);
    await arrived(3);
    const missed: MadeTrade[] = [];
    for (let round = 0; round < 2; round++) {
      const lost = await miss(7);
      const [next, ...rest] = make(5) as [MadeTrade, ...MadeTrade[]];
      made.push(...lost, next, ...rest);
      missed.push(...lost);
      server.deliver(next, lost.at(-1) ?? next, ...rest, next);
      await arrived(made.length);
    }
    expect(emitted(trades)).toEqual(expected(made));
    const past = trades.filter(({ tradedAt }) => tradedAt !== undefined);
    expect(past.length).toBeGreaterThanOrEqual(missed.length - 2);
    expect(late).toEqual([]);
    await until("the refill is reported", () =>
      notices.some((one) => /missed trades of 1 markets and returned \d+$/.test(one)),
    );
  });

  test("are reported as lost if the exchange does not return them", async () => {
    await using run = await followTrades(name);
    const { server, trades, make, miss, arrived, notices } = run;
    const made = [...make(2)];
    server.deliver(...made);
    await arrived(2);
    server.forgetful.add(name);
    await miss(4);
    const after = make(2);
    server.deliver(...after);
    await arrived(4);
    const words = name === "kucoin" ? "an unknown number of 1 markets is lost" : "4 are lost";
    await until("the loss is reported", () => notices.some((one) => one.startsWith(`${name} was asked`)));
    expect(notices.filter((one) => one.startsWith(`${name} was asked`))).toEqual([
      `${name} was asked for missed trades of 1 markets and returned 0; ${words}`,
    ]);
    expect(emitted(trades)).toEqual(expected([...made, ...after]));
    expect(run.feed.trouble?.()).toBe(`${name} did not return some trades of the last minutes`);
    expect(run.feed.services?.().find(({ service }) => service === name)?.isUp).toBe(true);
  });
});
