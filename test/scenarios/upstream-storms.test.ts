import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect } from "vitest";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/base/model/index.ts";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { IS_SOAK, shareOf } from "../support/law-runs.ts";
import { json, ScriptedUpstream, TIMEOUT_MS, wholeOf } from "../support/servers/scripted-upstream.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { type Market, marketOf, range } from "../support/world/upstream-market.ts";

const POLL_MS = 1_000;
const ENDS = ["flare-finished", "flare-withdrawn", "flare-expired"];

/**
 * A gateway that polls a fake upstream over HTTP, once per {@link Setup.poll}, and a bot that
 * follows the gateway over a WebSocket.
 */
class Setup {
  readonly upstream = new ScriptedUpstream();
  readonly clock = new ManualClock();
  readonly directory = mkdtempSync(join(tmpdir(), "flarewire-storms-"));
  #gateway: Gateway | undefined;
  #bot: IndependentClient | undefined;
  #polls = 0;

  get gateway(): Gateway {
    if (!this.#gateway) throw new Error("the gateway is not running");
    return this.#gateway;
  }

  get bot(): IndependentClient {
    if (!this.#bot) throw new Error("the bot is not running");
    return this.#bot;
  }

  async open(first: Snapshot): Promise<void> {
    this.upstream.on("snapshot", json(wholeOf(first)));
    await this.upstream.start();
    await this.startGateway();
    this.#bot = new IndependentClient(this.gateway.url);
    await this.#bot.connect();
  }

  async startGateway(): Promise<void> {
    const quiet = { port: 0, logLevel: "silent", drain: "0", data: this.directory } as const;
    const polled = { source: this.upstream.url, upstreamTimeout: `${TIMEOUT_MS}ms` };
    this.#gateway = await startGateway(createConfig({ ...quiet, ...polled }), { clock: this.clock });
    await this.#pollEnded();
  }

  /** Polls once for each of these states. Resolves when the bot has received the changes. */
  async poll(...states: readonly Snapshot[]): Promise<void> {
    for (const state of states) {
      this.upstream.on("snapshot", json(wholeOf(state)));
      this.clock.advance(POLL_MS);
      await this.#pollEnded();
      const { bot, gateway } = this;
      await bot.until(() => bot.seq >= gateway.head.cursor.seq || bot.closeCode !== undefined);
    }
  }

  /** Returns the names of the events that the bot has received, except those about the source. */
  async receivedNames(): Promise<string[]> {
    await expectOneState(this.gateway.url, this.bot);
    return this.bot.received.events
      .map(({ name }) => String(name))
      .filter((name) => name !== "source-status");
  }

  /** Stops the gateway. The clock advances meanwhile, because the drain waits by it. */
  async stopGateway(): Promise<void> {
    const stopped = this.gateway.stop();
    const ticking = setInterval(() => this.clock.advance(100), 1);
    await stopped;
    clearInterval(ticking);
  }

  async close(): Promise<void> {
    await this.#bot?.disconnect();
    await this.stopGateway();
    await this.upstream.stop();
    rmSync(this.directory, { recursive: true });
  }

  /** Resolves when the source waits for the next poll, so the previous one has ended. */
  async #pollEnded(): Promise<void> {
    this.#polls += 1;
    while (this.clock.slept.filter((ms) => ms === POLL_MS).length < this.#polls) await this.clock.nextSleep();
  }
}

const test = base.extend<{ setup: Setup }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  setup: async ({}, use) => {
    const setup = new Setup();
    await use(setup);
    await setup.close();
  },
});

const FULL_MARKET = {
  running: range(0, 41),
  free: range(5, 25),
  finished: range(1_000, 1_099),
  newest: range(200, 230),
} satisfies Market;
const GOOD = marketOf(FULL_MARKET);

/** `npm test` tries one list in one poll and all lists in two polls; the soak tries all cases. */
const isSelected = (_: unknown, index: number) => IS_SOAK || index === 2 || index === 4;

const BAD_POLLS: readonly (readonly [string, readonly Snapshot[]])[] = [
  ["an empty finished_trending in one poll", [marketOf({ ...FULL_MARKET, finished: [] })]],
  ["an empty free list in one poll", [marketOf({ ...FULL_MARKET, free: [] })]],
  ["an empty pro list in one poll", [marketOf({ ...FULL_MARKET, running: [] })]],
  ["an empty newest in one poll", [marketOf({ ...FULL_MARKET, newest: [] })]],
  ["everything empty for two polls", [EMPTY_SNAPSHOT, EMPTY_SNAPSHOT]],
  ["everything empty for 10 polls", range(0, 10).map(() => EMPTY_SNAPSHOT)],
  ["a replica that has just started", range(0, 10).map((n) => marketOf({ running: range(0, n) }))],
];

for (const [what, bad] of BAD_POLLS.filter(isSelected)) {
  test(`after ${what} a bot has received no event, and the state was stale with a reason`, async ({
    setup,
  }) => {
    await setup.open(GOOD);
    await setup.poll(...bad);
    const { state, reason } = setup.gateway.freshness();
    expect(state).toBe("stale");
    expect(reason).toMatch(/^the upstream's responses lack items of (flares|newest)/);
    await setup.poll(GOOD);
    expect(await setup.receivedNames()).toEqual([]);
    await setup.poll(...range(0, 61).map(() => GOOD));
    expect(await setup.receivedNames()).toEqual([]);
    expect(setup.gateway.freshness()).toMatchObject({ state: "live", reason: "" });
  });
}

const REPLICAS = [
  marketOf({ ...FULL_MARKET, running: range(0, 150), free: range(0, 75) }),
  marketOf({ ...FULL_MARKET, running: range(60, 210), free: range(60, 135) }),
] as const;
/** Whether the first replica responds to a poll. */
const BALANCERS: readonly (readonly [string, (poll: number) => boolean])[] = [
  ["in turn", (poll) => poll % 2 === 1],
  ["for six seconds each", (poll) => Math.floor(poll / 6) % 2 === 0],
  ["by chance", (poll) => Math.sin(poll * poll) > 0],
];

for (const [how, isFirst] of shareOf(BALANCERS)) {
  test(`while two replicas that differ by 40 % respond ${how}, each flare starts once and none ends`, async ({
    setup,
  }) => {
    await setup.open(REPLICAS[0]);
    for (const poll of range(0, 60)) await setup.poll(REPLICAS[isFirst(poll) ? 0 : 1]);
    const receivedNames = await setup.receivedNames();
    expect(receivedNames.filter((name) => ENDS.includes(name))).toEqual([]);
    const started = setup.bot.received.events.filter(({ channel }) => channel === "flares.pro");
    expect(started.filter(({ name }) => name === "flare-started")).toHaveLength(60);
    expect(setup.gateway.freshness().state).toBe("stale");
    const states = setup.bot.received.events.filter(({ name }) => name === "source-status");
    expect(states.length).toBeLessThanOrEqual(3);
  });
}

test("while ids change with each poll, a bot receives no event, and a finish has the id that the bot knows", async ({
  setup,
}) => {
  await setup.open(GOOD);
  await setup.poll(...range(1, 30).map((draw) => marketOf({ ...FULL_MARKET, draw })));
  expect(await setup.receivedNames()).toEqual([]);
  expect(setup.gateway.freshness().state).toBe("live");
  const ended = { running: range(1, 41), finished: [0, ...range(1_000, 1_099)] };
  await setup.poll(marketOf({ ...FULL_MARKET, ...ended, draw: 30 }));
  await setup.receivedNames();
  const ends = setup.bot.received.events.filter(({ name }) => name === "flare-finished");
  const known = GOOD.flares.pro[0]?.id;
  expect(ends.map(({ channel, data }) => [channel, Object(data).flare.id])).toEqual([
    ["flares.pro", known],
    ["flares.finished", known],
  ]);
});

test("flares that the upstream lists as finished finish at a bot with the first poll, however many there are", async ({
  setup,
}) => {
  await setup.open(GOOD);
  const free = FULL_MARKET.free.filter((number) => number >= 30);
  await setup.poll(
    marketOf({
      ...FULL_MARKET,
      running: range(30, 41),
      free,
      finished: [...range(0, 30), ...range(1_000, 1_099)],
    }),
  );
  await setup.receivedNames();
  const ends = setup.bot.received.events.filter(({ name }) => name === "flare-finished");
  expect(ends.filter(({ channel }) => channel === "flares.pro")).toHaveLength(30);
  expect(ends.filter(({ channel }) => channel === "flares.finished")).toHaveLength(30);
  expect(setup.gateway.freshness()).toMatchObject({ state: "live", reason: "" });
});

test("a flare that the upstream no longer lists finishes at a bot within 5 s", async ({ setup }) => {
  await setup.open(GOOD);
  const ended = marketOf({ ...FULL_MARKET, running: range(1, 41) });
  const beganMs = setup.clock.monotonic();
  while (!(await setup.receivedNames()).includes("flare-finished")) await setup.poll(ended);
  expect(setup.clock.monotonic() - beganMs).toBeLessThanOrEqual(5_000);
  expect(await setup.receivedNames()).toEqual(["flare-finished"]);
  expect(setup.gateway.freshness().state).toBe("live");
});

test("a gateway that restarts while its upstream responds with empty lists ends no flare", async ({
  setup,
}) => {
  await setup.open(GOOD);
  await setup.stopGateway();
  setup.upstream.on("snapshot", json(wholeOf(EMPTY_SNAPSHOT)));
  await setup.startGateway();
  await setup.poll(EMPTY_SNAPSHOT, GOOD);
  const bot = new IndependentClient(setup.gateway.url);
  bot.cursor = setup.bot.cursor;
  bot.state = structuredClone(setup.bot.state);
  bot.seq = setup.bot.seq;
  await bot.connect();
  await expectOneState(setup.gateway.url, bot);
  expect(bot.resets).toBe(0);
  expect(bot.received.events.filter(({ name }) => name !== "source-status")).toEqual([]);
  await bot.disconnect();
});
