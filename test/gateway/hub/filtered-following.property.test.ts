import fc from "fast-check";
import { expect, test } from "vitest";
import {
  advanceLists,
  applyEvent,
  type Channel,
  compileFilter,
  type EventMessage,
  type Filter,
  isChannel,
  type Lists,
  listsOf,
  parseCursor,
  projectLists,
  type View,
} from "../../../src/base/protocol/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { assertReaching } from "../../support/random/assert-reaching.ts";
import { createHubUnderTest, type HubUnderTest, settled } from "./hub-fixture.ts";
import { type Message, MockSocket } from "./mock-socket.ts";
import { STEPS } from "./test-market.ts";

const CHANNELS: readonly Channel[] = ["flares.pro", "flares.finished", "newest.bsc", "status"];
const FILTERS: readonly Filter[] = [
  { tokens: ["0x1".padEnd(42, "a")] },
  { symbols: ["T0", "T2"] },
  { min_liquidity: 60_000 },
  { min_age: 600 },
  {},
  { min_price_change: 25, symbols: ["T1"] },
  { min_liquidity: 60_000, sticky: true },
  { min_price_change: 25, symbols: ["T1"], sticky: true },
];

/** A client that maintains the lists under one filter, across any number of connections. */
class FilteringClient {
  socket = new MockSocket();
  view: View = { explanations: {} };
  resets = 0;
  conflated = 0;
  applied = 0;
  surges = 0;
  #cursor: string | undefined;
  readonly #sut: HubUnderTest;
  readonly #filter: Filter;
  readonly #mode: "events" | "latest";

  constructor(sut: HubUnderTest, filter: Filter, mode: "events" | "latest") {
    this.#mode = mode;
    this.#sut = sut;
    this.#filter = filter;
  }

  connect(highWater: number): void {
    this.socket.end();
    const after = this.#cursor === undefined ? {} : { after: this.#cursor };
    this.socket = this.#sut.open(
      { channels: CHANNELS, filter: this.#filter, mode: this.#mode, ...after },
      (socket) => {
        socket.highWater = highWater;
        socket.onMessage = (message) => this.#take(message);
      },
    );
  }

  expected(lists: Lists): View {
    return projectLists(lists, CHANNELS, compileFilter(this.#filter));
  }

  #take(message: Message): void {
    if (message.type === "subscribed" && message.resumed === "reset") {
      this.resets += 1;
      this.view = message.snapshot as View;
    }
    if (message.type === "conflated") {
      this.conflated += 1;
      const { explanations, ...lists } = message.snapshot as View;
      const channels = message.channels as readonly Channel[];
      this.view = { ...this.view, ...lists, ...(channels.includes("flares.pro") ? { explanations } : {}) };
    }
    if (message.type === "event") {
      const event = message as unknown as EventMessage;
      const position = parseCursor(this.#cursor ?? "")?.seq ?? 0;
      if (!isChannel(event.channel) || event.seq <= position || event.prev > position) {
        throw new Error(`event ${event.seq} with prev ${event.prev} at position ${position}`);
      }
      this.view = applyEvent(this.view, event);
      this.applied += 1;
      if (event.name === "flare-surged") this.surges += 1;
    }
    if (typeof message.cursor === "string" && message.type !== "hello") this.#cursor = message.cursor;
  }
}

const client = fc.nat(FILTERS.length * 2 - 1);
const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant("publish" as const),
      steps: fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 9 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom("freeze" as const, "thaw", "read"), client }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("connect" as const),
      client,
      highWater: fc.constantFrom(1, 700, 65_536),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("settle" as const) }) },
);

test("[W28] [W40] [W35] [L3] whatever filtered clients do, in both modes, each ends with what its filter selects from the head's lists", async () => {
  const totals = { applied: 0, surges: 0, resumed: 0, conflated: 0 };
  await assertReaching(
    fc.asyncProperty(fc.array(operation, { minLength: 20, maxLength: 80 }), async (operations) => {
      const sut = createHubUnderTest({
        log: { minCount: 150, maxAgeMs: 0 },
        hub: { limits: { catchUpBytes: 3_000, catchUpRecords: 7, conflateFrom: 10 } },
      });
      let lists = listsOf(sut.head.snapshot);
      const clients = (["events", "latest"] as const).flatMap((mode) =>
        FILTERS.map((filter) => new FilteringClient(sut, filter, mode)),
      );
      for (const one of clients) one.connect(4_096);
      let connections = 0;
      for (const operation of operations) {
        const one = "client" in operation ? clients[operation.client] : undefined;
        if (operation.op === "publish") {
          const batch = sut.market.poll(operation.steps);
          lists = batch.events.reduce(advanceLists, lists);
          await sut.head.publish({ observedAtMs: 1, ...batch });
        }
        if (operation.op === "settle") await settled();
        if (operation.op === "connect") {
          one?.connect(operation.highWater);
          connections += 1;
        }
        if (one?.socket.closed) continue;
        if (operation.op === "freeze") one?.socket.freeze();
        if (operation.op === "thaw") one?.socket.thaw();
        if (operation.op === "read") one?.socket.readOnce();
      }
      for (const one of clients) {
        one.socket.thaw();
        await settled();
        if (one.socket.closed) one.connect(4_096);
        await settled();
        expect(one.socket.session?.isBehind).toBe(false);
        expect(one.view).toEqual(one.expected(lists));
        totals.applied += one.applied;
        totals.surges += one.surges;
        totals.conflated += one.conflated;
        connections -= one.resets - 1;
      }
      totals.resumed += connections;
      expect(sut.errors).toEqual([]);
    }),
    lawRuns(16, 40),
    totals,
    { applied: 300, surges: 20, resumed: 30, conflated: 4 },
  );
});
