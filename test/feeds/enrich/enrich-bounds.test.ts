import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { MarketEvent, Profile } from "../../../src/base/market/index.ts";
import { enrichFeed } from "../../../src/feeds/enrich/enrich-feed.ts";
import type { Enricher, Facts, OnFound, TokenRef } from "../../../src/feeds/enrich/enricher.ts";
import { FactCache } from "../../../src/feeds/enrich/fact-cache.ts";
import { type Lookup, LookupEnricher } from "../../../src/feeds/enrich/lookup-enricher.ts";
import { type Table, TableEnricher } from "../../../src/feeds/enrich/table-enricher.ts";
import { Refusal, ServiceClient } from "../../../src/feeds/service/service-client.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { stillRunning, test } from "../../support/time/still-running.ts";
import { settle, until } from "../exchange/scripted-venue.ts";
import { clock as clockAt, ToldFeed, trade } from "../merge/told-feed.ts";

const MINUTE = 60_000;
const VERIFIED: Facts = { contractSource: "verified" };
const bsc = (token: string): TokenRef => ({ group: "bsc", token });

/** A service without a network, with scripted responses. */
class ScriptedService {
  readonly clock = new ManualClock();
  answer: () => Response = () => Response.json({});
  readonly client = new ServiceClient({
    clock: this.clock,
    pauseMs: 0,
    random: () => 0.5,
    fetch: async () => this.answer(),
  });
}

/** Runs an enricher until disposal, and collects its findings. */
class Running implements AsyncDisposable {
  readonly found: string[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(enricher: Enricher) {
    const onFound: OnFound = ({ token }, facts) => this.found.push(`${token} ${JSON.stringify(facts)}`);
    this.#running = enricher.run(onFound, this.#stop.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("over"));
    await this.#running;
  }
}

/** Creates an enricher whose service reports every token as verified. */
function lookupOf(
  options: Partial<Lookup> = {},
  cache = new FactCache(undefined),
  notify: (message: string) => void = () => {},
) {
  const service = new ScriptedService();
  const requests: string[] = [];
  const enricher = new LookupEnricher(
    {
      name: "sourcify",
      maxTokens: 3,
      holdsMs: () => 10 * MINUTE,
      serves: () => true,
      url: (group, tokens) => {
        requests.push(`${group} ${tokens.join()}`);
        return "http://service.example/";
      },
      read: (_body, tokens) => new Map(tokens.map((token) => [token, VERIFIED])),
      ...options,
    },
    service.client,
    service.clock,
    cache,
    (_level, message) => notify(message),
  );
  return { service, requests, enricher, clock: service.clock };
}

describe("a service that is queried for a few tokens at a time", () => {
  test("gets as many tokens per request as it accepts, of one chain only", async () => {
    const { enricher, requests } = lookupOf();
    for (const token of ["a1", "a2"]) enricher.note(bsc(token));
    enricher.note({ group: "matic", token: "m1" });
    for (const token of ["a3", "a4"]) enricher.note(bsc(token));
    await using run = new Running(enricher);
    await until("all are found", () => run.found.length === 5);
    expect(requests).toEqual(["bsc a1,a2,a3", "matic m1", "bsc a4"]);
  });

  test("is not queried for a refused chain for half a day; the refusal is reported once and delays no other chain", async () => {
    const notices: string[] = [];
    const read: Lookup["read"] = (_body, tokens) => {
      if (tokens[0]?.startsWith("b")) throw new Refusal("has no such plan");
      return new Map(tokens.map((token) => [token, VERIFIED]));
    };
    const { enricher, requests, clock } = lookupOf({ maxTokens: 1, read }, undefined, (message) =>
      notices.push(message),
    );
    for (const token of ["b1", "b2"]) enricher.note(bsc(token));
    for (const token of ["m1", "m2"]) enricher.note({ group: "matic", token });
    await using run = new Running(enricher);
    await until("the other chain is served", () => run.found.length === 2);
    // Without a pause: the clock stands still.
    expect(requests).toEqual(["bsc b1", "matic m1", "matic m2"]);
    expect(enricher.trouble).toBe("refuses bsc: has no such plan");
    expect(enricher.report()).toMatchObject({ isUp: true, requests: 3, refused: 1, errors: 0 });
    expect(notices).toEqual(["sourcify refuses bsc: has no such plan"]);
    clock.advance(719 * MINUTE);
    enricher.note(bsc("b3"));
    enricher.note({ group: "matic", token: "m3" });
    await until("the next is served", () => run.found.length === 3);
    expect(requests.slice(3)).toEqual(["matic m3"]);
    clock.advance(MINUTE);
    enricher.note(bsc("b4"));
    enricher.note({ group: "matic", token: "m4" });
    await until("the next is served", () => run.found.length === 4);
    expect(requests.slice(4)).toEqual(["bsc b4", "matic m4"]);
    expect(notices).toHaveLength(1);
  });

  test("is queried again for failed tokens, after the others", async () => {
    const { enricher, requests, service, clock } = lookupOf({ maxTokens: 1 });
    for (const token of ["a", "b"]) enricher.note(bsc(token));
    service.answer = () => new Response("no", { status: 500 });
    await using run = new Running(enricher);
    for (const [round, failing] of ["a", "b", "a"].entries()) {
      const next = failing === "a" ? "b" : "a";
      await until("the next one is due", () => requests.length === round + 2);
      expect(requests.at(-1)).toBe(`bsc ${next}`);
      if (round === 2) service.answer = () => Response.json({});
      clock.advance(60_000);
    }
    await until("both are found", () => run.found.length === 2);
    expect(requests).toEqual(["bsc a", "bsc b", "bsc a", "bsc b", "bsc a"]);
  });

  test("is queried in lower case, and its facts are matched with the market's spelling of the address", async () => {
    const { enricher, requests } = lookupOf();
    enricher.note(bsc("0xAbC"));
    await using run = new Running(enricher);
    await until("it is found", () => run.found.length === 1);
    expect([requests, run.found]).toEqual([["bsc 0xabc"], [`0xAbC ${JSON.stringify(VERIFIED)}`]]);
  });

  test("has at most 10,000 waiting tokens; the longest waiting one is dropped", async () => {
    const { enricher, requests } = lookupOf({ maxTokens: 20_000 });
    for (let count = 0; count <= 10_000; count++) enricher.note(bsc(`t${count}`));
    await using run = new Running(enricher);
    await until("they are found", () => run.found.length > 0);
    const tokens = requests[0]?.slice("bsc ".length).split(",") ?? [];
    expect([requests.length, tokens.length, tokens[0], tokens.at(-1)]).toEqual([1, 10_000, "t1", "t10000"]);
  });

  test("loses none of 10,000 waiting tokens when one of them is noted again", async () => {
    const { enricher, requests } = lookupOf({ maxTokens: 20_000 });
    for (let count = 1; count <= 10_000; count++) enricher.note(bsc(`t${count}`));
    for (const token of ["t9999", "t5000"]) enricher.note(bsc(token));
    await using run = new Running(enricher);
    await until("they are found", () => run.found.length > 0);
    expect(requests[0]?.split(",")).toHaveLength(10_000);
    expect(requests[0]).toMatch(/^bsc t1,t2,/);
  });

  test("is queried again when its answer has expired, without leaking timers or listeners", async () => {
    const { enricher, requests, clock } = lookupOf();
    await using run = new Running(enricher);
    await settle();
    const running = stillRunning();
    for (const round of [1, 2, 3]) {
      enricher.note(bsc("a"));
      await until("the request arrives", () => requests.length === round);
      await until("nothing more runs", () => stillRunning().join() === running.join());
      clock.advance(10 * MINUTE - 1);
      enricher.note(bsc("a"));
      await settle();
      expect(requests).toHaveLength(round);
      clock.advance(1);
    }
    expect(running).toHaveLength(1);
    expect(new Set(run.found)).toEqual(new Set([`a ${JSON.stringify(VERIFIED)}`]));
  });

  test("has its responses saved to disk when the market is closed", async () => {
    const directory = mkdtempSync(join(tmpdir(), "flarewire-facts-"));
    const path = join(directory, "facts.json");
    try {
      const { enricher } = lookupOf({}, new FactCache(path));
      enricher.note(bsc("a"));
      {
        await using run = new Running(enricher);
        await until("it is found", () => run.found.length === 1);
      }
      expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
        entries: { "bsc/a": { facts: VERIFIED } },
      });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

test("facts that could not be saved are saved the next time, and each problem is reported once", async () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-facts-"));
  const [parent, path] = [join(directory, "cache"), join(directory, "cache", "facts.json")];
  try {
    const problems: string[] = [];
    const cache = new FactCache(path, (problem) => problems.push(problem));
    for (const [round, key] of ["bsc/a", "bsc/b"].entries()) {
      writeFileSync(parent, "in the way");
      cache.set(key, { at: 0, facts: VERIFIED });
      await cache.save();
      await cache.save();
      expect(problems).toHaveLength(round + 1);
      expect(problems.at(-1)).toMatch(/EEXIST|ENOTDIR/);
      rmSync(parent);
      await cache.save();
      expect(problems).toHaveLength(round + 1);
      expect(new FactCache(path).get(key)?.facts).toEqual(VERIFIED);
      rmSync(parent, { recursive: true });
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("facts of at most 100,000 tokens are stored; the oldest are dropped first", () => {
  const cache = new FactCache(undefined);
  const entry = { at: 0, facts: VERIFIED };
  for (let count = 0; count < 100_000; count++) cache.set(`t${count}`, entry);
  cache.set("t0", entry);
  expect(cache.entries.size).toBe(100_000);
  cache.set("new", entry);
  expect(cache.entries.size).toBe(100_000);
  expect([cache.get("t0"), cache.get("t1"), cache.get("new")]).toEqual([entry, undefined, entry]);
});

describe("a service that returns everything in one answer", () => {
  const table = (options: Partial<Table> = {}): Table => ({
    name: "coingecko",
    url: "http://service.example/",
    everyMs: 60 * MINUTE,
    gone: { socialData: null },
    read: (body) => new Map(Object.keys(Object(body)).map((token) => [`bsc/${token}`, VERIFIED])),
    ...options,
  });

  test("is not queried before an earlier run's answer has expired", async () => {
    const service = new ScriptedService();
    const { clock, client } = service;
    let requests = 0;
    service.answer = () => {
      requests += 1;
      return Response.json({});
    };
    const cache = new FactCache(undefined);
    cache.set("bsc/a", { at: clock.now() - 40 * MINUTE, facts: VERIFIED });
    await using _run = new Running(new TableEnricher(table(), client, clock, cache));
    for (const [waitMs, expected] of [
      [20 * MINUTE - 1, 0],
      [1, 1],
      [60 * MINUTE - 1, 1],
      [1, 2],
    ] as const) {
      clock.advance(waitMs);
      await settle();
      expect(requests).toBe(expected);
    }
  });

  test("withdraws a token's facts by omitting the token, until it lists the token again", async () => {
    const service = new ScriptedService();
    const { clock, client } = service;
    const gone: Facts = { socialData: null };
    const cache = new FactCache(undefined);
    const enricher = new TableEnricher(table({ gone }), client, clock, cache);
    await using run = new Running(enricher);
    enricher.note(bsc("a"));
    for (const [body, facts] of [
      [{ a: 1 }, VERIFIED],
      [{}, gone],
      [{ b: 1 }, gone],
      [{ a: 1, b: 1 }, VERIFIED],
    ] as const) {
      service.answer = () => Response.json(body);
      clock.advance(60 * MINUTE);
      await settle();
      expect(cache.get("bsc/a")?.facts).toEqual(facts);
    }
    expect(run.found).toEqual([VERIFIED, gone, VERIFIED].map((facts) => `a ${JSON.stringify(facts)}`));
  });
});

/** A market with one enricher. The test supplies its findings. */
class Enriched implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly market = new ToldFeed("bsc");
  readonly noted: string[] = [];
  readonly reported: MarketEvent[] = [];
  isEnded = false;
  find: OnFound = () => {};
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>;

  constructor() {
    const enricher: Enricher = {
      name: "sourcify",
      trouble: undefined,
      report: () => new ServiceClient({ clock: this.clock, pauseMs: 0 }).report("enrich", "sourcify"),
      note: ({ token }) => this.noted.push(token),
      run: async (onFound, signal) => {
        this.find = onFound;
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        this.isEnded = true;
      },
    };
    const feed = enrichFeed(this.market, [enricher], this.clock);
    this.#reading = (async () => {
      for await (const event of feed.events(this.#stop.signal)) this.reported.push(event);
    })();
  }

  get profiles(): readonly Profile[] {
    return this.reported.filter((event) => event.kind === "profile");
  }

  /** Emits the clock of a second. */
  async tick(second: number): Promise<void> {
    this.market.tell(clockAt(second));
    await settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }
}

describe("a market with facts of its tokens", () => {
  test("notes a trading token at most every five minutes", async () => {
    await using market = new Enriched();
    for (const [waitMs, expected] of [
      [0, 1],
      [5 * MINUTE - 1, 1],
      [1, 2],
      [5 * MINUTE - 1, 2],
      [1, 3],
    ] as const) {
      market.clock.advance(waitMs);
      market.market.tell(trade(1), trade(1), trade(1, "BTC", "exchange"));
      await settle();
      expect(market.noted).toEqual(Array(expected).fill("0xaa"));
    }
  });

  test("emits at most 500 findings after a clock, each once", async () => {
    await using market = new Enriched();
    await settle();
    for (let count = 0; count < 1_200; count++) market.find(bsc(`t${count}`), VERIFIED);
    const counts: number[] = [];
    for (const second of [1, 2, 3, 4]) {
      await market.tick(second);
      counts.push(market.profiles.length);
    }
    expect(counts).toEqual([500, 1_000, 1_200, 1_200]);
    expect(new Set(market.profiles.map(({ token }) => token)).size).toBe(1_200);
  });

  test("keeps a contract verified if another service does not have its source, before and after publishing", async () => {
    await using market = new Enriched();
    await settle();
    const unverified: Facts = { contractSource: "unverified" };
    for (const [token, facts] of [
      ["a", unverified],
      ["a", VERIFIED],
      ["a", unverified],
      ["b", unverified],
    ] as const)
      market.find(bsc(token), facts);
    await market.tick(1);
    market.find(bsc("a"), unverified);
    market.find(bsc("b"), VERIFIED);
    await market.tick(2);
    market.find(bsc("b"), unverified);
    await market.tick(3);
    expect(market.profiles.map(({ token, contractSource }) => [token, contractSource])).toEqual([
      ["a", "verified"],
      ["b", "unverified"],
      ["b", "verified"],
    ]);
  });

  test("stops its services when it ends", async () => {
    await using market = new Enriched();
    await market.tick(1);
    expect(market.isEnded).toBe(false);
    market.market.end();
    await until("its services are stopped", () => market.isEnded);
  });
});
