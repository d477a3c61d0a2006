import { describe, expect } from "vitest";
import type { MarketEvent, MarketGroup } from "../../../src/base/market/index.ts";
import { isAdditional } from "../../../src/base/model/index.ts";
import { createAggregatorFeed } from "../../../src/feeds/aggregator/aggregator-feed.ts";
import { AGGREGATED, type AggregatedNetwork } from "../../../src/feeds/aggregator/gecko-terminal.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test } from "../../support/time/still-running.ts";
import { settle } from "../exchange/scripted-venue.ts";
import { StandInAggregator } from "./stand-in.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const DEFAULT_NETWORKS = AGGREGATED.filter(({ group }) => !isAdditional(group));
const token = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;

/** A running feed with its clock, events and notices. Disposal stops it. */
class Running implements AsyncDisposable {
  readonly clock = new ManualClock(Date.UTC(2026, 10, 22, 12));
  readonly events: MarketEvent[] = [];
  readonly notices: string[] = [];
  readonly feed;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Number of pending requests. The clock does not advance while there are any. */
  #pending = 0;

  constructor(
    standIn: StandInAggregator,
    listings: readonly MarketGroup[] = ["bsc"],
    networks: readonly AggregatedNetwork[] = DEFAULT_NETWORKS,
  ) {
    this.feed = createAggregatorFeed({
      url: standIn.url,
      networks,
      listings: new Set(listings),
      clock: this.clock,
      random: () => 0,
      fetch: (...request) => this.#fetch(...request),
      notify: (level, message) => this.notices.push(`${level}: ${message}`),
    });
    this.#running = this.#run();
  }

  of<K extends MarketEvent["kind"]>(kind: K) {
    return this.events.filter((event): event is Extract<MarketEvent, { kind: K }> => event.kind === kind);
  }

  /** Advances the clock in steps until the condition holds. */
  async advanceUntil(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.#pending === 0) this.clock.advance(500);
      await settle();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("over"));
    await this.#running;
  }

  async #fetch(...request: Parameters<typeof fetch>): Promise<Response> {
    this.#pending += 1;
    try {
      const { status, headers, body } = await fetch(...request);
      return new Response(body === null ? null : await new Response(body).bytes(), { status, headers });
    } finally {
      this.#pending -= 1;
    }
  }

  async #run(): Promise<void> {
    for await (const event of this.feed.events(this.#stop.signal)) this.events.push(event);
  }
}

describe("an aggregator's pools as a market", () => {
  test("are all reported within ten seconds of the start, with six requests, and events in order of time", async () => {
    await using standIn = await new StandInAggregator().listen();
    standIn.trending.set("bsc", [{ token: token(1), symbol: "A" }]);
    standIn.trending.set("polygon_pos", [{ token: token(2), symbol: "B" }]);
    standIn.newest.set("avax", [{ token: token(3), symbol: "C" }]);
    await using run = new Running(standIn);
    const began = run.clock.now();
    await run.advanceUntil(() => run.of("window").length === 3);
    expect(run.clock.now() - began).toBeLessThanOrEqual(10 * SECOND);
    expect(standIn.asked).toHaveLength(6);
    expect(run.of("window").map(({ group, token }) => [group, token])).toEqual([
      ["bsc", token(1)],
      ["matic", token(2)],
      ["avalanche", token(3)],
    ]);
    expect(run.of("profile").map(({ symbol }) => symbol)).toEqual(["A", "B", "C"]);
    const times = run.events.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.every((at) => at % SECOND === 0 && at <= run.clock.now())).toBe(true);
  });

  test("are requested at most ten times a minute, and each list once a minute", async () => {
    await using standIn = await new StandInAggregator().listen();
    await using run = new Running(standIn);
    await run.advanceUntil(() => standIn.asked.length === 6);
    const began = run.clock.now();
    await run.advanceUntil(() => run.clock.now() - began >= 10 * MINUTE);
    const requests = standIn.asked.length - 6;
    expect(requests).toBeGreaterThanOrEqual(54);
    expect(requests).toBeLessThanOrEqual(60);
    expect(new Set(standIn.asked).size).toBe(6);
  });

  test("of one group are requested twice in the first half minute, once for each list", async () => {
    await using standIn = await new StandInAggregator().listen();
    await using run = new Running(
      standIn,
      [],
      AGGREGATED.filter(({ group }) => group === "bsc"),
    );
    const began = run.clock.now();
    await run.advanceUntil(() => run.clock.now() - began >= MINUTE / 2);
    expect(standIn.asked).toHaveLength(2);
    expect(new Set(standIn.asked).size).toBe(2);
  });

  test("of all groups are requested at most 24 times a minute, and the default groups' first pages still once a minute", async () => {
    await using standIn = await new StandInAggregator().listen();
    await using run = new Running(standIn, [], AGGREGATED);
    const began = run.clock.now();
    /** The requests of each minute, and where each ended. */
    const minutes: (readonly string[])[] = [];
    for (let minute = 1, from = 0; minute <= 6; minute += 1) {
      await run.advanceUntil(() => run.clock.now() - began >= minute * MINUTE);
      minutes.push(standIn.asked.slice(from));
      from = standIn.asked.length;
    }
    const [first = [], ...later] = minutes;
    expect(first.length).toBeLessThanOrEqual(30);
    const defaults = DEFAULT_NETWORKS.map(({ id }) => `/${id}/`);
    for (const asked of later) {
      expect(asked.length).toBeLessThanOrEqual(25);
      const ofDefaults = asked.filter((path) => defaults.some((network) => path.includes(network)));
      expect(ofDefaults.length).toBeGreaterThanOrEqual(5);
      expect(ofDefaults.every((path) => path.endsWith("page=1"))).toBe(true);
    }
    const pages = new Set(minutes.flat());
    expect(pages.size).toBe(2 * DEFAULT_NETWORKS.length + 6 * (AGGREGATED.length - DEFAULT_NETWORKS.length));
  });

  test("of additional groups are requested on their first pages only after a refusal", async () => {
    await using standIn = await new StandInAggregator().listen();
    await using run = new Running(standIn, [], AGGREGATED);
    await run.advanceUntil(() => standIn.asked.some((path) => path.endsWith("page=3")));
    standIn.refusesFor = 5;
    const before = standIn.asked.length;
    await run.advanceUntil(() => standIn.asked.length > before);
    standIn.refusesFor = undefined;
    const began = run.clock.now();
    const from = standIn.asked.length;
    await run.advanceUntil(() => run.clock.now() - began >= 3 * MINUTE);
    const sparing = standIn.asked.slice(from);
    expect(sparing.filter((path) => !path.endsWith("page=1"))).toEqual([]);
    expect(sparing.length).toBeGreaterThanOrEqual(4 * AGGREGATED.length);
    const said = "warn: requesting only GeckoTerminal's first pages for 10 minutes";
    expect(run.notices.filter((notice) => notice === said)).toHaveLength(1);
  });

  test.each(["500", "html"] as const)(
    "of additional groups are still requested on all pages after a failure that is no refusal (%s)",
    async (mischief) => {
      await using standIn = await new StandInAggregator().listen();
      await using run = new Running(standIn, [], AGGREGATED);
      await run.advanceUntil(() => standIn.asked.some((path) => path.endsWith("page=3")));
      standIn.mischief = mischief;
      const before = standIn.asked.length;
      await run.advanceUntil(() => standIn.asked.length > before);
      standIn.mischief = undefined;
      const began = run.clock.now();
      await run.advanceUntil(() => run.clock.now() - began >= MINUTE);
      const from = standIn.asked.length;
      await run.advanceUntil(() => run.clock.now() - began >= 3 * MINUTE);
      expect(standIn.asked.slice(from).some((path) => !path.endsWith("page=1"))).toBe(true);
    },
  );

  test("keep the case of a mint and of its pool on Solana", async () => {
    await using standIn = await new StandInAggregator().listen();
    const mint = "7GCihgDB8fe6KNjn2MYtkzZcRjQy3t9GHdC8uHYmW2hr";
    const pool = "58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2";
    standIn.newest.set("solana", [
      { token: mint, symbol: "POPCAT", pool, createdAt: "2026-11-22T11:56:30Z" },
      { token: "So11111111111111111111111111111111111111112", symbol: "SOL" },
    ]);
    const solana = AGGREGATED.filter(({ group }) => group === "solana");
    await using run = new Running(standIn, ["solana"], solana);
    await run.advanceUntil(() => run.of("listing").length === 1);
    const named = run.events.filter((event) => "token" in event);
    expect(named.map((event) => [event.kind, event.token, "pool" in event ? event.pool : ""])).toEqual([
      ["profile", mint, ""],
      ["window", mint, pool],
      ["listing", mint, pool],
    ]);
  });

  test("are published as listings while young, once each, with their creation time, and only on chains without a chain feed", async () => {
    await using standIn = await new StandInAggregator().listen();
    const young = { symbol: "NEW", createdAt: "2026-11-22T11:56:30Z", reserve: "5000" };
    standIn.newest.set("bsc", [
      { ...young, token: token(1) },
      { ...young, token: token(2), createdAt: "2026-11-22T11:40:00Z" },
      { ...young, token: token(3), reserve: "10" },
    ]);
    standIn.newest.set("avax", [{ ...young, token: token(4) }]);
    await using run = new Running(standIn, ["bsc", "matic"]);
    await run.advanceUntil(() => standIn.asked.length > 12);
    await run.advanceUntil(() => run.of("window").length >= 8);
    expect(run.of("listing")).toEqual([
      {
        kind: "listing",
        group: "bsc",
        token: token(1),
        liquidity: "5000",
        at: expect.any(Number),
        pool: expect.any(String),
        listedAt: Date.UTC(2026, 10, 22, 11, 56, 30),
      },
    ]);
  });

  test("continue in order of time when the machine's clock is set back", async () => {
    await using standIn = await new StandInAggregator().listen();
    await using run = new Running(standIn);
    await run.advanceUntil(() => run.events.length > 1);
    const before = run.events.at(-1)?.at ?? 0;
    run.clock.jumpWall(-60 * MINUTE);
    await run.advanceUntil(() => run.events.length > 6);
    expect(run.events.at(-1)?.at).toBeGreaterThan(before);
    expect(run.events.at(-1)?.at).toBeLessThan(before + MINUTE);
  });

  test("stop event time while the aggregator refuses requests, honor its Retry-After, and resume at the present", async () => {
    await using standIn = await new StandInAggregator().listen();
    standIn.trending.set("bsc", [{ token: token(1), symbol: "A" }]);
    await using run = new Running(standIn);
    await run.advanceUntil(() => run.of("window").length === 1);
    standIn.refusesFor = 90;
    const before = standIn.asked.length;
    const began = run.clock.now();
    await run.advanceUntil(() => run.clock.now() - began >= 5 * MINUTE);
    expect(standIn.asked.length - before).toBeLessThanOrEqual(4);
    expect(run.feed.trouble?.()).toContain("429");
    expect(run.notices).toEqual([expect.stringContaining("warn: GeckoTerminal returned 429")]);
    const stoppedAt = run.events.at(-1)?.at ?? 0;
    expect(run.clock.now() - stoppedAt).toBeGreaterThan(2 * MINUTE);
    standIn.refusesFor = undefined;
    await run.advanceUntil(() => (run.events.at(-1)?.at ?? 0) > stoppedAt);
    expect(run.clock.now() - (run.events.at(-1)?.at ?? 0)).toBeLessThan(2 * SECOND);
    expect(run.notices.at(-1)).toBe("info: GeckoTerminal responds again");
  });

  test("emit no event before the first successful response", async () => {
    await using standIn = await new StandInAggregator().listen();
    standIn.mischief = "500";
    await using run = new Running(standIn);
    await run.advanceUntil(() => standIn.asked.length >= 3);
    expect(run.events).toEqual([]);
    standIn.mischief = undefined;
    await run.advanceUntil(() => run.of("clock").length > 0);
  });

  test("survive invalid responses: HTML and cut connections", async () => {
    await using standIn = await new StandInAggregator().listen();
    standIn.trending.set("bsc", [{ token: token(1), symbol: "A" }]);
    await using run = new Running(standIn);
    await run.advanceUntil(() => run.of("window").length === 1);
    for (const mischief of ["html", "cut"] as const) {
      standIn.mischief = mischief;
      const before = standIn.asked.length;
      await run.advanceUntil(() => standIn.asked.length > before + 1);
      expect(run.feed.trouble?.()).toEqual(expect.any(String));
    }
    standIn.mischief = undefined;
    const reports = run.of("window").length;
    await run.advanceUntil(() => run.of("window").length > reports);
    expect(run.feed.trouble?.()).toBeUndefined();
  });
});
