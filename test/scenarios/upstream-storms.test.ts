import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect } from "vitest";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/index.ts";
import { IndependentClient } from "../support/independent-client.ts";
import { IS_SOAK, shareOf } from "../support/law-runs.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { expectOneState } from "../support/one-state.ts";
import { json, ScriptedUpstream, TIMEOUT_MS, wholeOf } from "../support/scripted-upstream.ts";
import { type Market, marketOf, range } from "../support/upstream-market.ts";

const POLL_MS = 1_000;
const ENDS = ["flare-finished", "flare-withdrawn", "flare-expired"];

/**
 * A gateway that polls a stand-in upstream over HTTP, once per {@link Desk.poll}, and a bot that
 * follows it over a WebSocket.
 */
class Desk {
  readonly upstream = new ScriptedUpstream();
  readonly clock = new ManualClock();
  readonly directory = mkdtempSync(join(tmpdir(), "flarewire-storms-"));
  #gateway: Gateway | undefined;
  #bot: IndependentClient | undefined;
  #polls = 0;

  get gateway(): Gateway {
    if (!this.#gateway) throw new Error("the gateway does not run");
    return this.#gateway;
  }

  get bot(): IndependentClient {
    if (!this.#bot) throw new Error("the bot does not run");
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

  /**
   * Lets the gateway poll once for each of these states; resolves when the bot has what changed.
   */
  async poll(...states: readonly Snapshot[]): Promise<void> {
    for (const state of states) {
      this.upstream.on("snapshot", json(wholeOf(state)));
      this.clock.advance(POLL_MS);
      await this.#pollEnded();
      const { bot, gateway } = this;
      await bot.until(() => bot.seq >= gateway.head.cursor.seq || bot.closeCode !== undefined);
    }
  }

  /** The names of the events that the bot has received, but for those about the source. */
  async heard(): Promise<string[]> {
    await expectOneState(this.gateway.url, this.bot);
    return this.bot.received.events
      .map(({ name }) => String(name))
      .filter((name) => name !== "source-status");
  }

  /** Stops the gateway; time passes meanwhile, for its drain waits by the clock. */
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

  /** A poll has ended when the source waits for the next one. */
  async #pollEnded(): Promise<void> {
    this.#polls += 1;
    while (this.clock.slept.filter((ms) => ms === POLL_MS).length < this.#polls) await this.clock.nextSleep();
  }
}

const test = base.extend<{ desk: Desk }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  desk: async ({}, use) => {
    const desk = new Desk();
    await use(desk);
    await desk.close();
  },
});

const WHOLE = {
  running: range(0, 41),
  free: range(5, 25),
  finished: range(1_000, 1_099),
  newest: range(200, 230),
} satisfies Market;
const GOOD = marketOf(WHOLE);

/** One list of one poll, everything for two, and all in the soak. */
const isTried = (_: unknown, index: number) => IS_SOAK || index === 2 || index === 4;

const BAD_POLLS: readonly (readonly [string, readonly Snapshot[]])[] = [
  ["an empty finished_trending in one poll", [marketOf({ ...WHOLE, finished: [] })]],
  ["an empty free list in one poll", [marketOf({ ...WHOLE, free: [] })]],
  ["an empty pro list in one poll", [marketOf({ ...WHOLE, running: [] })]],
  ["an empty newest in one poll", [marketOf({ ...WHOLE, newest: [] })]],
  ["everything empty for two polls", [EMPTY_SNAPSHOT, EMPTY_SNAPSHOT]],
  ["everything empty for 10 polls", range(0, 10).map(() => EMPTY_SNAPSHOT)],
  ["a replica that has just started", range(0, 10).map((n) => marketOf({ running: range(0, n) }))],
];

for (const [what, bad] of BAD_POLLS.filter(isTried)) {
  test(`after ${what} a bot has seen no event, and the state was stale with the reason`, async ({ desk }) => {
    await desk.open(GOOD);
    await desk.poll(...bad);
    const { state, reason } = desk.gateway.freshness();
    expect(state).toBe("stale");
    expect(reason).toMatch(/^the upstream's responses lack items of (flares|newest)/);
    await desk.poll(GOOD);
    expect(await desk.heard()).toEqual([]);
    await desk.poll(...range(0, 61).map(() => GOOD));
    expect(await desk.heard()).toEqual([]);
    expect(desk.gateway.freshness()).toMatchObject({ state: "live", reason: "" });
  });
}

const REPLICAS = [
  marketOf({ ...WHOLE, running: range(0, 150), free: range(0, 75) }),
  marketOf({ ...WHOLE, running: range(60, 210), free: range(60, 135) }),
] as const;
/** Which of the two answers each poll. */
const BALANCERS: readonly (readonly [string, (poll: number) => boolean])[] = [
  ["in turn", (poll) => poll % 2 === 1],
  ["for six seconds each", (poll) => Math.floor(poll / 6) % 2 === 0],
  ["by chance", (poll) => Math.sin(poll * poll) > 0],
];

for (const [how, isFirst] of shareOf(BALANCERS)) {
  test(`while two replicas that differ by 40 % answer ${how}, each flare starts once and none ends`, async ({
    desk,
  }) => {
    await desk.open(REPLICAS[0]);
    for (const poll of range(0, 60)) await desk.poll(REPLICAS[isFirst(poll) ? 0 : 1]);
    const heard = await desk.heard();
    expect(heard.filter((name) => ENDS.includes(name))).toEqual([]);
    const started = desk.bot.received.events.filter(({ channel }) => channel === "flares.pro");
    expect(started.filter(({ name }) => name === "flare-started")).toHaveLength(60);
    expect(desk.gateway.freshness().state).toBe("stale");
    const states = desk.bot.received.events.filter(({ name }) => name === "source-status");
    expect(states.length).toBeLessThanOrEqual(3);
  });
}

test("while ids change on each poll a bot sees no event, and an end is that of the flare it knows", async ({
  desk,
}) => {
  await desk.open(GOOD);
  await desk.poll(...range(1, 30).map((draw) => marketOf({ ...WHOLE, draw })));
  expect(await desk.heard()).toEqual([]);
  expect(desk.gateway.freshness().state).toBe("live");
  const ended = { running: range(1, 41), finished: [0, ...range(1_000, 1_099)] };
  await desk.poll(marketOf({ ...WHOLE, ...ended, draw: 30 }));
  await desk.heard();
  const ends = desk.bot.received.events.filter(({ name }) => name === "flare-finished");
  const known = GOOD.flares.pro[0]?.id;
  expect(ends.map(({ channel, data }) => [channel, Object(data).flare.id])).toEqual([
    ["flares.pro", known],
    ["flares.finished", known],
  ]);
});

test("an end that the upstream lists as finished reaches a bot with the first poll, however many end at once", async ({
  desk,
}) => {
  await desk.open(GOOD);
  const free = WHOLE.free.filter((number) => number >= 30);
  await desk.poll(
    marketOf({ ...WHOLE, running: range(30, 41), free, finished: [...range(0, 30), ...range(1_000, 1_099)] }),
  );
  await desk.heard();
  const ends = desk.bot.received.events.filter(({ name }) => name === "flare-finished");
  expect(ends.filter(({ channel }) => channel === "flares.pro")).toHaveLength(30);
  expect(ends.filter(({ channel }) => channel === "flares.finished")).toHaveLength(30);
  expect(desk.gateway.freshness()).toMatchObject({ state: "live", reason: "" });
});

test("an end that the upstream lists nowhere reaches a bot within 5 s", async ({ desk }) => {
  await desk.open(GOOD);
  const ended = marketOf({ ...WHOLE, running: range(1, 41) });
  const beganMs = desk.clock.monotonic();
  while (!(await desk.heard()).includes("flare-finished")) await desk.poll(ended);
  expect(desk.clock.monotonic() - beganMs).toBeLessThanOrEqual(5_000);
  expect(await desk.heard()).toEqual(["flare-finished"]);
  expect(desk.gateway.freshness().state).toBe("live");
});

test("a gateway that is started again while its upstream answers with nothing ends no flare", async ({
  desk,
}) => {
  await desk.open(GOOD);
  await desk.stopGateway();
  desk.upstream.on("snapshot", json(wholeOf(EMPTY_SNAPSHOT)));
  await desk.startGateway();
  await desk.poll(EMPTY_SNAPSHOT, GOOD);
  const bot = new IndependentClient(desk.gateway.url);
  bot.cursor = desk.bot.cursor;
  bot.state = structuredClone(desk.bot.state);
  bot.seq = desk.bot.seq;
  await bot.connect();
  await expectOneState(desk.gateway.url, bot);
  expect(bot.resets).toBe(0);
  expect(bot.received.events.filter(({ name }) => name !== "source-status")).toEqual([]);
  await bot.disconnect();
});
