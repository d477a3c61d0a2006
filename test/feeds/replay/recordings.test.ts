import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { LATEST_AT_MS, MarketEvent, MarketGroup } from "../../../src/base/market/index.ts";
import { addressOf } from "../../../src/feeds/replay/pair-registry.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { gzip, only, replay, test } from "./replay-kit.ts";

const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const DAY = root("examples/data/2017-11-12.csv.gz");
const DAY_PROFILES = root("examples/data/2017-11-12.profiles.json");
const TEN_DAYS = root("../shared/data/exchange-1m/2017-11-04_2017-11-14.csv.gz");

const amount = fc.stringMatching(/^\d{1,20}(\.\d{1,20})?$/);
const id = fc.string({ minLength: 1, maxLength: 40 });
const at = fc.integer({ min: 60_000, max: LATEST_AT_MS });
const common = { at, group: fc.constantFrom(...MarketGroup.options), token: id };
const link = fc.option(fc.string(), { nil: null });
const flag = fc.boolean();
const share = fc.double({ min: 0, max: 1, noNaN: true });
const count = fc.nat({ max: 1_000_000_000 });
const counts = fc.record({ buys: count, sells: count, buyers: count, sellers: count, usd: amount });

/** Any valid event, by kind. */
const EVENTS = {
  trade: fc.record(
    {
      kind: fc.constant("trade" as const),
      ...common,
      pool: id,
      side: fc.constantFrom("buy" as const, "sell" as const),
      price: amount,
      amount,
      quoteUsd: amount,
      trader: id,
      tradedAt: at,
    },
    {
      requiredKeys: [
        ...(["kind", "at", "group", "token", "pool", "side"] as const),
        ...(["price", "amount", "quoteUsd"] as const),
      ],
    },
  ),
  candle: fc
    .record(
      {
        kind: fc.constant("candle" as const),
        ...common,
        open: amount,
        high: amount,
        low: amount,
        close: amount,
        volume: amount,
        trades: fc.nat(),
        buyVolume: amount,
      },
      { requiredKeys: ["kind", "at", "group", "token", "open", "high", "low", "close", "volume"] },
    )
    .map((candle) => ({ ...candle, openAt: candle.at - 60_000 })),
  window: fc.record({
    kind: fc.constant("window" as const),
    ...common,
    pool: id,
    price: amount,
    past: fc.record({ m5: amount, m30: amount, h1: amount }),
    liquidity: amount,
    counts: fc.record({ m5: counts, h1: counts, h24: counts }),
  }),
  listing: fc.record({ kind: fc.constant("listing" as const), ...common, pool: id, liquidity: amount }),
  liquidity: fc.record({
    kind: fc.constant("liquidity" as const),
    ...common,
    pool: id,
    usd: amount,
    cause: fc.constantFrom("sync" as const, "add" as const, "remove" as const),
  }),
  locks: fc.record({
    kind: fc.constant("locks" as const),
    ...common,
    pool: id,
    burned: share,
    held: fc.array(fc.record({ share, until: fc.option(at, { nil: null }) })),
  }),
  profile: fc.record(
    {
      kind: fc.constant("profile" as const),
      ...common,
      symbol: id,
      name: fc.string(),
      createdAt: at,
      quote: flag,
      marketData: fc.option(fc.record({ market_id: id, image_url: link, name: link }), { nil: null }),
      socialData: fc.option(fc.record({ chat_url: link, microblog_url: link, website_url: link }), {
        nil: null,
      }),
      contractSource: fc.constantFrom("verified" as const, "unverified" as const),
      forumPost: fc.option(
        fc.record({
          position: fc.nat(),
          address: fc.constant("0xaB"),
          url: fc.string(),
          title: fc.string(),
          upvotes: fc.integer(),
          posted: at,
        }),
        { nil: null },
      ),
    },
    { requiredKeys: ["kind", "at", "group", "token"] },
  ),
  observed: fc.record({ kind: fc.constant("observed" as const), at, group: common.group, since: at }),
  clock: fc.record({ kind: fc.constant("clock" as const), at }),
};

describe("market events as NDJSON", () => {
  test("the kinds tested here are complete", () => {
    expect(Object.keys(EVENTS)).toEqual(MarketEvent.options.map(({ shape }) => shape.kind.value));
  });

  test.for(Object.entries(EVENTS))(
    "any %s survives being recorded and replayed",
    async ([, events], { expect, write }) => {
      await fc.assert(
        fc.asyncProperty<[MarketEvent]>(events, async (event) => {
          const { events: reported, totals } = await replay(write(gzip([JSON.stringify(event)])));
          expect(totals).toEqual({});
          expect(reported[0]).toEqual(event);
        }),
        lawRuns(15),
      );
    },
  );
});

describe("the recorded day that ships", () => {
  test("it contains every candle of 12 November 2017, and no line is skipped", async () => {
    const { events, totals, error } = await replay(DAY, { group: "bsc" });
    expect(error).toBeUndefined();
    expect(totals).toEqual({});
    const candles = only("candle", events);
    expect(candles.length).toBe(23_896);
    expect(new Set(candles.map(({ token }) => token)).size).toBe(18);
    const opened = candles.map(({ openAt }) => new Date(openAt).toISOString());
    expect([opened[0], opened.at(-1)]).toEqual(["2017-11-12T00:00:00.000Z", "2017-11-12T23:59:00.000Z"]);
  });

  test("its profiles cover every pair, and fill the four groups of the specification with at least ten tokens", async () => {
    const { events, totals } = await replay(DAY, { profilesPath: DAY_PROFILES });
    expect(totals).toEqual({});
    const profiles = only("profile", events);
    const counts = Object.groupBy(profiles, ({ group }) => group);
    expect(counts.bsc?.length).toBe(18);
    for (const group of ["bsc", "exchange", "matic", "avalanche"] as const)
      expect(counts[group]?.length, group).toBeGreaterThanOrEqual(10);
    for (const profile of profiles) {
      expect(profile.marketData?.market_id).toMatch(/^[a-z-]+$/);
      expect(profile.token).toBe(addressOf(profile.group, profile.symbol ?? ""));
      expect(profile.contractSource).toBeUndefined();
      expect(MarketEvent.parse(profile)).toEqual(profile);
    }
  });

  test.skipIf(!existsSync(TEN_DAYS) || process.env.FLAREWIRE_LONG !== "1")(
    "the ten days that it is an extract of parse completely (if available, with FLAREWIRE_LONG=1)",
    async () => {
      const { events, totals } = await replay(TEN_DAYS, { group: "bsc" });
      expect(totals).toEqual({});
      expect(only("candle", events).length).toBe(236_586);
      expect(only("profile", events).length).toBe(20);
      const dayStart = Date.UTC(2017, 10, 12);
      const day = only("candle", events).filter(
        ({ openAt }) => openAt >= dayStart && openAt < dayStart + 86_400_000,
      );
      expect(day).toEqual(only("candle", (await replay(DAY, { group: "bsc" })).events));
    },
  );
});
