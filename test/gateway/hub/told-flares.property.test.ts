import fc from "fast-check";
import { expect, test } from "vitest";
import { EMPTY_SNAPSHOT, type Flare, type Snapshot } from "../../../src/base/model/index.ts";
import {
  type Channel,
  type EventMessage,
  type EventName,
  type Filter,
  formatCursor,
  type View,
} from "../../../src/base/protocol/index.ts";
import { LongPoll } from "../../../src/gateway/hub/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { assertReaching } from "../../support/random/assert-reaching.ts";
import { SAMPLE_FLARE } from "../../support/world/samples.ts";
import { createHubUnderTest, type HubUnderTest, settled } from "./hub-fixture.ts";
import { type Message, MockSocket } from "./mock-socket.ts";

const AT = Date.UTC(2017, 10, 12, 8, 21);
const RUNNING = ["flares.pro", "flares.free"] as const satisfies readonly Channel[];
const ENDS = ["flare-started", "flare-finished"] satisfies EventName[];

const filters: fc.Arbitrary<Filter> = fc
  .record(
    {
      names: fc.constantFrom<EventName[]>(ENDS, [...ENDS, "flare-surged"], [...ENDS, "flare-withdrawn"]),
      min_liquidity: fc.constantFrom(0, 1, 50_000),
      min_price_change: fc.integer({ min: -50, max: 50 }),
      sticky: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  .filter(
    ({ sticky, ...about }) => sticky === undefined || Object.keys(about).some((name) => name !== "names"),
  );

/** A change of one of a few flares: it starts, moves, enters or leaves the list `free`, or ends. */
interface Change {
  readonly which: number;
  readonly kind: "start" | "move" | "age" | "canary" | "finish";
  readonly liquidity: number;
  readonly pct: number;
}

const change: fc.Arbitrary<Change> = fc.record({
  which: fc.nat(5),
  kind: fc.constantFrom("start", "move", "move", "age", "canary", "finish"),
  liquidity: fc.constantFrom(0, 40_000, 60_000),
  pct: fc.integer({ min: -60, max: 60 }),
});

/** The market of these flares. A flare that starts again has a new id. */
class FlareMarket {
  snapshot: Snapshot = EMPTY_SNAPSHOT;
  #starts = 0;
  readonly #ids: string[] = [];

  apply({ which, kind, liquidity, pct }: Change): void {
    const { pro, free, finished_trending } = this.snapshot.flares;
    const is = ({ id }: Flare) => id === this.#ids[which];
    const others = (flares: readonly Flare[]) => flares.filter((flare) => !is(flare));
    const numbers = { liquidity: `${liquidity}`, recent_price_change: pct };
    const old = pro.find(is);
    const moved = (flares: readonly Flare[]) =>
      flares.map((flare) => (is(flare) ? { ...flare, ...numbers } : flare));
    let flares = this.snapshot.flares;
    if (kind === "start" && !old) {
      this.#starts += 1;
      const id = `00000000-0000-5000-8000-${String(this.#starts).padStart(12, "0")}`;
      this.#ids[which] = id;
      flares = { ...flares, pro: [{ ...SAMPLE_FLARE, ...numbers, id }, ...pro] };
    } else if (kind === "move") flares = { ...flares, pro: moved(pro), free: moved(free) };
    else if (kind === "age" && old) flares = { ...flares, free: [old, ...others(free)] };
    else if (kind === "canary") flares = { ...flares, free: others(free) };
    else if (kind === "finish" && old) {
      const ended = { ...old, ...numbers, finished_trending_at: new Date(AT).toISOString() };
      flares = {
        ...{ pro: others(pro), free: others(free) },
        finished_trending: [ended, ...finished_trending].slice(0, 4),
      };
    }
    this.snapshot = { ...this.snapshot, flares };
  }
}

/** The running flares that a client knows since its last snapshot, by list. */
class Told {
  heard = 0;
  readonly #ids = new Set<string>();

  snapshot(lists: unknown): void {
    const { flares } = lists as View;
    for (const channel of RUNNING) {
      const [, name] = channel.split(".") as ["flares", "pro" | "free"];
      for (const { id } of flares?.[name] ?? []) this.#ids.add(`${channel} ${id}`);
    }
  }

  /** Throws if the event ends a flare that the client was not told of. */
  event(message: unknown): void {
    const { name, channel, data } = message as EventMessage;
    if (name === "flare-started") this.#ids.add(`${channel} ${data.flare.id}`);
    if (name !== "flare-finished" || data.op === "insert") return;
    this.heard += 1;
    expect(this.#ids, `the end of ${data.id} in ${channel}`).toContain(`${channel} ${data.id}`);
  }
}

class StreamClient {
  readonly told = new Told();
  resets = 0;
  #socket = new MockSocket();
  #cursor: string | undefined;
  readonly #sut: HubUnderTest;
  readonly #filter: Filter;
  readonly #mode: "events" | "latest";

  constructor(sut: HubUnderTest, filter: Filter, mode: "events" | "latest") {
    this.#sut = sut;
    this.#filter = filter;
    this.#mode = mode;
  }

  connect(): void {
    this.#socket.end();
    const after = this.#cursor === undefined ? {} : { after: this.#cursor };
    const query = { channels: [...RUNNING], filter: this.#filter, mode: this.#mode, ...after };
    this.#socket = this.#sut.open(query, (socket) => {
      socket.onMessage = (message) => this.#take(message);
    });
  }

  leave(): void {
    this.#socket.end();
  }

  #take(message: Message): void {
    if (message.type === "hello") return;
    if (message.type === "subscribed" && message.resumed === "reset") this.resets += 1;
    if (message.snapshot) this.told.snapshot(message.snapshot);
    if (message.type === "event" || message.type === "missed") this.told.event(message);
    if (typeof message.cursor === "string") this.#cursor = message.cursor;
  }
}

class PollClient {
  readonly told = new Told();
  #cursor: string | undefined;
  readonly #polls: LongPoll;
  readonly #filter: Filter;

  constructor({ log, head, hub, clock }: HubUnderTest, filter: Filter) {
    this.#polls = new LongPoll({ log, head, history: hub.history, clock, stopping: hub.stopping });
    this.#filter = filter;
  }

  async poll(): Promise<void> {
    const query = { channels: RUNNING, filter: this.#filter, limit: 3, waitMs: 0, snapshot: true };
    const page = await this.#polls.take({ ...query, after: this.#cursor }, new AbortController().signal);
    if (page.kind === "lost") this.#cursor = undefined;
    else {
      if (page.kind === "page" && page.snapshot) this.told.snapshot(JSON.parse(String(page.snapshot)));
      if (page.kind === "page") for (const event of JSON.parse(`[${page.bytes}]`)) this.told.event(event);
      this.#cursor = formatCursor(page.cursor);
    }
  }
}

test("[W29] [W40] [P12] whatever the events, the filter, losses and interruptions, no client hears the end of a running flare it was not told of", async () => {
  const totals = { streams: 0, polls: 0, resets: 0 };
  const turn = fc.record({
    polls: fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 }),
    away: fc.array(fc.nat(3), { maxLength: 3 }),
  });
  await assertReaching(
    fc.asyncProperty(filters, fc.array(turn, { minLength: 3, maxLength: 12 }), async (filter, turns) => {
      const sut = createHubUnderTest({
        log: { minCount: 20, maxAgeMs: 0 },
        hub: { limits: { conflateFrom: 10 } },
      });
      const market = new FlareMarket();
      const modes = ["events", "latest"] as const;
      const streams = modes.flatMap((mode) => [1, 2].map(() => new StreamClient(sut, filter, mode)));
      const poll = new PollClient(sut, filter);
      for (const client of streams) client.connect();
      for (const { polls, away } of turns) {
        for (const [at, client] of streams.entries()) if (away.includes(at)) client.leave();
        for (const changes of polls) {
          const before = market.snapshot;
          for (const one of changes) market.apply(one);
          const events = toEvents(before, market.snapshot, AT);
          await sut.head.publish({ observedAtMs: AT, snapshot: market.snapshot, events });
          // Otherwise it falls behind the log's end, and hears hardly an event.
          if (away.length === 0) await poll.poll();
        }
        for (const [at, client] of streams.entries()) if (away.includes(at)) client.connect();
        if (away.length < 2) await poll.poll();
        await settled();
      }
      expect(sut.errors).toEqual([]);
      totals.polls += poll.told.heard;
      for (const { told, resets } of streams) {
        totals.streams += told.heard;
        totals.resets += resets > 1 ? 1 : 0;
      }
    }),
    lawRuns(20, 60),
    totals,
    { streams: 30, polls: 3, resets: 3 },
  );
});
