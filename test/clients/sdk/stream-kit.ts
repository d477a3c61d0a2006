import {
  type ConnectOptions,
  connect,
  type Stream,
  type StreamItem,
} from "../../../src/clients/sdk/index.ts";
import { test as base } from "../../gateway/http/stream/websocket-fixture.ts";
import { Waiters } from "../../support/time/waiters.ts";
import { HeldProxy } from "./held-proxy.ts";
import { hasten } from "./stream-group.ts";

/** The SDK's clock and timers run this many times faster than real time. */
export const HASTE = 100;

/** A clock and timers that run faster by {@link HASTE}. */
export const HASTY = hasten(HASTE);

/** A stream and what it has emitted. */
export interface Followed {
  readonly stream: Stream;
  readonly items: StreamItem[];
  /** Seqs of the events. */
  readonly seqs: () => readonly number[];
  /** Resets, by reason. */
  readonly resets: () => readonly string[];
  /** Resolves once `check` holds. It is evaluated after each event and each change of state. */
  readonly until: (check: () => boolean) => Promise<void>;
}

/** Follows a server, and records events and resets. An error without a listener fails the test. */
export function follow(url: string, options: ConnectOptions = {}): Followed {
  const stream = connect(url, { platform: HASTY, ...options });
  const items: StreamItem[] = [];
  const waiters = new Waiters(() => ({ connection: stream.connection, items: items.slice(-3) }));
  const look = () => waiters.look();
  stream.on("event", (event) => {
    items.push(event);
    look();
  });
  stream.on("reset", (reset) => {
    items.push(reset);
    look();
  });
  stream.on("connection", look);
  return {
    stream,
    items,
    seqs: () => items.flatMap((item) => (item.name === "reset" ? [] : [item.seq])),
    resets: () => items.flatMap((item) => (item.name === "reset" ? [item.reason] : [])),
    until: (check) => waiters.until(check),
  };
}

/** Whole numbers from `first` to `last`. */
export function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/**
 * {@link base} with `proxyTo`, which starts a proxy to a port, and `start`, which follows a server.
 * What they start ends with the test.
 */
export const test = base.extend<{
  proxyTo: (port: number) => Promise<HeldProxy>;
  start: typeof follow;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  proxyTo: async ({}, use) => {
    await using made = new AsyncDisposableStack();
    await use(async (port) => made.use(await HeldProxy.open(port)));
  },
  start: async ({ makeWire: _before }, use) => {
    const made: Followed[] = [];
    await use((url, options) => {
      const followed = follow(url, options);
      made.push(followed);
      return followed;
    });
    for (const { stream } of made) stream.close();
  },
});
