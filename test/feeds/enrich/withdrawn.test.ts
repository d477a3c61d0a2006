import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, vi } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { EngineSource } from "../../../src/app/engine-source.ts";
import { startGateway } from "../../../src/app/serve.ts";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/base/lib/time/time.ts";
import type { MarketEvent, Profile } from "../../../src/base/market/index.ts";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { createEnrichers } from "../../../src/feeds/enrich/create-enrichers.ts";
import { enrichFeed } from "../../../src/feeds/enrich/enrich-feed.ts";
import type { EnricherName } from "../../../src/feeds/enrich/enricher.ts";
import type { Feed } from "../../../src/gateway/source/feed.ts";
import { checkedFetch } from "../../support/expect/validate-response.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { test as base } from "../../support/time/still-running.ts";
import { KNOWN, SHADY, STRANGER, StandInServices } from "./stand-in-services.ts";

const START = Date.UTC(2026, 0, 1);
const TOKENS = [KNOWN, SHADY, STRANGER];
const LINKS = {
  chat_url: "https://discord.gg/known",
  microblog_url: "https://x.com/known",
  website_url: "https://known.example",
};
const PATIENCE = { timeout: 280_000, interval: 20 };

/** A market whose three tokens are listed, and then trade each second. */
async function* market(clock: PacedClock, signal: AbortSignal): AsyncGenerator<MarketEvent> {
  for (const [index, token] of TOKENS.entries())
    yield { kind: "listing", at: START, group: "bsc", pool: `0x${index}`, token, liquidity: "50000" };
  for (let at = START; !signal.aborted; at += 1_000) {
    for (const [index, token] of TOKENS.entries()) {
      const trade = { kind: "trade", at, group: "bsc", pool: `0x${index}`, token, side: "buy" } as const;
      yield { ...trade, price: "1", amount: "1", quoteUsd: "1", trader: "0x2" };
    }
    yield { kind: "clock", at };
    await clock.sleep(1_000, signal).catch(() => {});
  }
}

interface Kit {
  readonly services: StandInServices;
  readonly clock: PacedClock;
  readonly directory: string;
  /** The market with what these services say of its tokens. */
  readonly enriched: (names?: readonly EnricherName[]) => Feed;
  /** The same, read while `act` runs: what was said of KNOWN. */
  readonly read: (
    act: (said: readonly Profile[], feed: Feed) => Promise<void>,
    names?: readonly EnricherName[],
  ) => Promise<void>;
}

const test = base.extend<{ kit: Kit }>({
  // biome-ignore lint/correctness/noEmptyPattern: the runner demands a pattern
  kit: async ({}, use) => {
    await using services = await new StandInServices().listen();
    const clock = new PacedClock(100, START);
    const directory = mkdtempSync(join(tmpdir(), "flarewire-withdrawn-"));
    const enriched: Kit["enriched"] = (names = ["dexscreener"]) => {
      const { urls } = services;
      const enrichers = createEnrichers({
        names,
        urls,
        keys: {},
        directory,
        clock,
        notify: () => {},
      });
      const facts = { trades: true, liquidity: false, listings: true, profiles: false };
      const feed: Feed = {
        name: "three",
        origin: "live",
        facts,
        events: (signal) => market(clock, signal),
      };
      return enrichFeed(feed, enrichers, clock);
    };
    const read: Kit["read"] = async (act, names) => {
      const feed = enriched(names);
      const said: Profile[] = [];
      const stop = new AbortController();
      const reading = (async () => {
        for await (const event of feed.events(stop.signal))
          if (event.kind === "profile" && event.token === KNOWN) said.push(event);
      })();
      try {
        await act(said, feed);
      } finally {
        stop.abort();
        await reading;
      }
    };
    await use({ services, clock, directory, enriched, read });
    rmSync(directory, { recursive: true });
  },
});

const linksIn = (said: readonly Profile[]) => said.map(({ socialData }) => socialData);

describe("links that DexScreener withdraws", () => {
  test("are no longer served after an hour", async ({ kit: { services, clock, enriched } }) => {
    const source = new EngineSource({ feed: enriched(), engine: new TrendEngine(), clock });
    const config = createConfig({ port: 0, data: "none", drain: "0" });
    const gateway = await startGateway(config, { clock, source, logger: createLogger("silent") });
    const served = async () => {
      const { json } = await checkedFetch(`${gateway.url}/api/v1/snapshot`);
      const found = (json as Snapshot).newest.bsc.find(({ token }) => token.address === KNOWN);
      return found ? found.social_data : "not listed";
    };
    try {
      await vi.waitFor(async () => expect(await served()).toEqual(LINKS), PATIENCE);
      services.links = "removed";
      clock.skip(HOUR_MS);
      await vi.waitFor(async () => expect(await served()).toBeNull(), PATIENCE);
    } finally {
      await gateway.stop();
    }
  });

  test("become null in the profile, return when they are added again, and stay withdrawn after a restart", async ({
    kit: { services, clock, directory, read },
  }) => {
    await read(async (said) => {
      await vi.waitFor(() => expect(linksIn(said)).toEqual([LINKS]), PATIENCE);
      services.links = "removed";
      clock.skip(HOUR_MS);
      await vi.waitFor(() => expect(linksIn(said)).toEqual([LINKS, null]), PATIENCE);
      services.links = "given";
      clock.skip(HOUR_MS);
      await vi.waitFor(() => expect(linksIn(said)).toEqual([LINKS, null, LINKS]), PATIENCE);
      services.links = "removed";
      clock.skip(HOUR_MS);
      await vi.waitFor(() => expect(linksIn(said)).toEqual([LINKS, null, LINKS, null]), PATIENCE);
    });
    expect(readFileSync(join(directory, "enrich-dexscreener.json"), "utf8")).toContain('"socialData":null');
    services.mischief.set("dexscreener", "500");
    await read(async (said) => {
      await vi.waitFor(() => expect(linksIn(said)).toEqual([null]), PATIENCE);
    });
  });

  test("are queried again within an hour, but not before fifty minutes", async ({
    kit: { services, clock, read },
  }) => {
    await read(async (said) => {
      await vi.waitFor(() => expect(linksIn(said)).toEqual([LINKS]), PATIENCE);
      // The tokens that were noted while the first request was under way come with a second one.
      const paths = () => services.asked.map(({ path }) => path.toLowerCase()).join();
      await vi.waitFor(() => {
        for (const token of TOKENS) expect(paths()).toContain(token.toLowerCase());
      }, PATIENCE);
      const asked = services.count("dexscreener");
      clock.skip(40 * MINUTE_MS);
      const event = said.length;
      const until = clock.now() + 5_000;
      await vi.waitFor(() => expect(clock.now()).toBeGreaterThan(until), PATIENCE);
      expect([services.count("dexscreener"), said.length]).toEqual([asked, event]);
      clock.skip(20 * MINUTE_MS);
      await vi.waitFor(() => expect(services.count("dexscreener")).toBeGreaterThan(asked), PATIENCE);
    });
  });

  test.for(["429", "500", "cut", "html", "types"] as const)(
    "are still served while a lookup fails: %s",
    async (mischief, { kit: { services, clock, read } }) => {
      await read(async (said, feed) => {
        await vi.waitFor(() => expect(linksIn(said)).toEqual([LINKS]), PATIENCE);
        services.mischief.set("dexscreener", mischief);
        clock.skip(HOUR_MS);
        await vi.waitFor(() => expect(feed.trouble?.()).toMatch(/^dexscreener /), PATIENCE);
        const asked = services.count("dexscreener");
        await vi.waitFor(() => expect(services.count("dexscreener")).toBeGreaterThan(asked), PATIENCE);
        services.mischief.delete("dexscreener");
        await vi.waitFor(() => expect(feed.trouble?.()).toBeUndefined(), PATIENCE);
        expect(linksIn(said)).toEqual([LINKS]);
      });
    },
  );

  test("disappear with the token's pairs, but not if an answer about many tokens omits it", async ({
    kit: { services, clock, read },
  }) => {
    await read(async (said) => {
      await vi.waitFor(() => expect(linksIn(said)).toEqual([LINKS]), PATIENCE);
      const alone = () =>
        services.asked.filter(({ path }) => path.toLowerCase().endsWith(`/${KNOWN.toLowerCase()}`)).length;
      services.links = "crowded out";
      clock.skip(HOUR_MS);
      await vi.waitFor(() => expect(alone()).toBeGreaterThan(0), PATIENCE);
      services.links = "unlisted";
      clock.skip(HOUR_MS);
      await vi.waitFor(() => expect(linksIn(said)).toEqual([LINKS, null]), PATIENCE);
      expect(alone()).toBe(2);
    });
  });
});

test("a coin that leaves CoinGecko's list stays withdrawn after a restart", async ({
  kit: { services, clock, read },
}) => {
  const coins = (said: readonly Profile[]) => said.map(({ marketData }) => marketData?.market_id ?? null);
  await read(
    async (said) => {
      await vi.waitFor(() => expect(coins(said)).toEqual(["known-coin"]), PATIENCE);
    },
    ["coingecko"],
  );
  services.isListed = false;
  clock.skip(12 * HOUR_MS);
  for (const asked of [2, 2])
    await read(
      async (said) => {
        await vi.waitFor(() => expect(coins(said).at(-1)).toBe(null), PATIENCE);
        expect(services.count("coingecko")).toBe(asked);
      },
      ["coingecko"],
    );
});
