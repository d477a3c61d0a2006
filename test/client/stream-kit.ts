import { type ConnectOptions, connect, type Stream, type StreamItem } from "../../src/client/index.ts";
import { test as base } from "../http/stream/websocket-fixture.ts";
import { Waiters } from "../support/time/waiters.ts";
import { hasten } from "./company.ts";
import { HeldProxy } from "./held-proxy.ts";

/** Time for the SDK goes this much faster than the clock: its seconds are milliseconds here. */
export const HASTE = 100;

/** The global scope, in a hurry. */
export const HASTY = hasten(HASTE);

/** A stream with what it told. */
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

/** Follows, and records events and errors. Errors that the test does not await fail it. */
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
 * {@link base} with `proxyTo`, which leads to a port, and `start`, which follows; both end with the
 * test.
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
