import { expect, test } from "vitest";
import type { ListingEvent, MarketEvent } from "../../../../../../src/base/market/index.ts";
import { shareOf } from "../../../../../support/law-runs.ts";
import { BookPool } from "../../../market/book-pool.ts";
import { Collector, eventsOf } from "../../../market/collect.ts";
import { E18 } from "../../../market/exchange.ts";
import { describeOnAnvil } from "../../../nodes/anvil.ts";
import { wallet } from "../../../nodes/test-chain.ts";

const NAMES = { symbol: "BOOK", name: "Book" };

/** Keeps the last of consecutive reports, because a swap reports every bin that it passes. */
function lastReports(events: readonly MarketEvent[]): MarketEvent[] {
  return events.filter((event, index) => {
    const next = events[index + 1];
    return event.kind !== "liquidity" || next?.kind !== "liquidity" || next.at !== event.at;
  });
}

function addOf({ at, group, pool, token, liquidity: usd }: ListingEvent): MarketEvent {
  return { kind: "liquidity", at, group, pool, token, usd, cause: "add" };
}

describeOnAnvil("pairs of LFJ's Liquidity Book on a real EVM", () => {
  test.each(
    shareOf([
      ["2.0", true],
      ["2.2", true],
      ["2.2", false],
    ] as const),
  )(
    "[exact] %s, token is X: %s: listing, swaps within a bin and through many, liquidity added and removed",
    async (version, isTokenX) => {
      const pool = await BookPool.open(version, isTokenX);
      await using _ = pool.chain;
      await pool.add(-20, 20, 100n * E18, NAMES);
      await pool.swap(wallet(1), "buy", 3n * E18 + 7n);
      await pool.swap(wallet(2), "sell", 123_456_789_012_345_678n);
      await pool.swap(wallet(1), "buy", 450n * E18);
      await pool.swap(wallet(2), "sell", 1_234n * E18);
      // Coins far from the price do not count as liquidity.
      await pool.add(-200, -190, 100n * E18);
      await pool.remove(-20, -15);
      await pool.swap(wallet(2), "buy", 11n * E18);
      const [profile, listing, ...others] = pool.events;
      const first = "120000";
      // 2.0 logs each bin by itself, so the first one lists the token.
      const added = listing?.kind === "listing" ? [{ ...listing, liquidity: first }, addOf(listing)] : [];
      const expected = version === "2.0" ? [profile, ...added, ...others] : pool.events;
      expect(lastReports(await eventsOf(pool))).toEqual(expected);
    },
  );

  test.each(shareOf(["2.2", "2.0"] as const))(
    "[before] %s: an existing pair is identified by its factory, and bins are read again as the price nears them",
    async (version) => {
      const pool = await BookPool.open(version);
      await using chain = pool.chain;
      await pool.add(-50, 50, 100n * E18, NAMES);
      await pool.add(-100, -51, 100n * E18);
      await pool.swap(wallet(1), "buy", 450n * E18);
      await chain.mine(300);
      const before = pool.events.length;
      const settled = async () => {
        const untilMs = chain.nextAt * 1_000;
        for (let block = 0; block < 4; block++) await chain.mine();
        return untilMs;
      };
      await pool.swap(wallet(2), "sell", 10n * E18);
      const firstMs = await settled();
      await using collector = new Collector({ network: pool.network, backfillMs: 60_000 });
      await collector.reached(firstMs);
      // After forty bins, some bins near the price are unknown until the next look-up.
      await pool.swap(wallet(2), "sell", 4_500n * E18);
      await collector.reached(await settled());
      await pool.swap(wallet(1), "buy", 7n * E18);
      await pool.swap(wallet(2), "sell", E18);
      await collector.reached(await settled());
      const events = lastReports(collector.facts.filter(({ kind }) => kind !== "profile"));
      const expected = pool.events.slice(before);
      const [, , moved] = expected;
      expect(events.filter(({ at }) => at !== moved?.at)).toEqual(
        expected.filter(({ at }) => at !== moved?.at),
      );
      expect(events.map(({ kind }) => kind)).toEqual(expected.map(({ kind }) => kind));
    },
  );
});
