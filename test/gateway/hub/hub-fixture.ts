import { test as base } from "vitest";
import { type Freshness, type SourceInfo, toEpoch } from "../../../src/base/protocol/index.ts";
import {
  type ConnectQuery,
  createDeflateFraming,
  Head,
  Hub,
  type HubOptions,
  websocketFraming,
} from "../../../src/gateway/hub/index.ts";
import { type EventLog, MemoryLog, type MemoryLogOptions } from "../../../src/gateway/log/index.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { MockSocket } from "./mock-socket.ts";
import { type Step, TestMarket } from "./test-market.ts";

export const FRESH: Freshness = {
  state: "live",
  reason: "",
  observed_at: "2017-11-12T08:36:00.000Z",
  last_success_at: "2026-11-21T08:00:00.000Z",
  data_age_ms: 12,
};
export const INFO: SourceInfo = {
  name: "test",
  origin: "simulated",
  facts: { trades: true, liquidity: true, listings: true, profiles: true },
};
export const EPOCH = "test1";

/** A hub over a market that the test controls. */
export interface HubUnderTest {
  readonly hub: Hub;
  readonly head: Head;
  readonly log: EventLog;
  readonly clock: ManualClock;
  readonly market: TestMarket;
  /** Errors that the hub reported. */
  readonly errors: unknown[];
  freshness: Freshness;
  /** Publishes the events of one poll. */
  publish(...steps: Step[]): Promise<void>;
  /** Opens a connection; it is compressed if `prepare` sets the socket's `isDeflated`. */
  open(query?: ConnectQuery, prepare?: (socket: MockSocket) => void): MockSocket;
}

export type HubFactory = (options?: {
  readonly hub?: Partial<HubOptions>;
  readonly log?: Partial<MemoryLogOptions>;
  /** Default true: the empty snapshot is already published. */
  readonly ready?: boolean;
}) => HubUnderTest;

/** Lets the continuations of all promises that are resolved by now run. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

export const createHubUnderTest: HubFactory = (options = {}) => {
  const clock = new ManualClock();
  const log = new MemoryLog({ epoch: toEpoch(EPOCH), clock, ...options.log });
  const market = new TestMarket();
  const initial = { snapshot: market.snapshot, observedAtMs: 1 };
  const head = new Head({ log, ...(options.ready === false ? {} : { initial }) });
  const errors: unknown[] = [];
  const state = { freshness: FRESH };
  const hub = new Hub({
    log,
    head,
    clock,
    info: () => INFO,
    freshness: () => state.freshness,
    serverName: "flarewire/test",
    onError: (error) => errors.push(error),
    ...options.hub,
  });
  const deflateFraming = createDeflateFraming(hub.counters);
  return Object.assign(state, {
    hub,
    head,
    log,
    clock,
    market,
    errors,
    publish: (...steps: Step[]) => head.publish({ observedAtMs: 1_000, ...market.poll(steps) }),
    open: (query: ConnectQuery = {}, prepare: (socket: MockSocket) => void = () => {}) => {
      const socket = new MockSocket();
      prepare(socket);
      socket.session = hub.connect(socket, socket.isDeflated ? deflateFraming : websocketFraming, query);
      return socket;
    },
  });
};

/**
 * Extends Vitest's `test` with `make`, and with `sut`, a hub with the defaults. A test fails if a
 * hub reported an error that the test did not remove from `errors`.
 */
export const test = base.extend<{ make: HubFactory; sut: HubUnderTest }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  make: async ({}, use) => {
    const made: HubUnderTest[] = [];
    await use((options) => {
      const created = createHubUnderTest(options);
      made.push(created);
      return created;
    });
    const errors = made.flatMap((created) => created.errors);
    if (errors.length > 0) throw new AggregateError(errors, "the hub reported errors");
  },
  sut: async ({ make }, use) => use(make()),
});
