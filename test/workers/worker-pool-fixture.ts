import type { Socket } from "node:net";
import { createLogger } from "../../src/gateway/create-logger.ts";
import { TicketTable } from "../../src/keys/index.ts";
import { LogPublisher } from "../../src/workers/primary/log-publisher.ts";
import { WorkerPool } from "../../src/workers/primary/worker-pool.ts";
import type { WorkerProcess } from "../../src/workers/primary/worker-process.ts";
import { createHubUnderTest, FRESH, INFO } from "../hub/hub-fixture.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { test as base } from "../support/still-running.ts";
import { FakeChild } from "./fake-child.ts";

/** A pool whose workers' processes the test leads. */
function createPoolUnderTest(workers: number, signal?: AbortSignal) {
  const clock = new ManualClock();
  const sut = createHubUnderTest();
  const tickets = new TicketTable(clock);
  const children: FakeChild[] = [];
  const leftOver: Socket[] = [];
  const errors: unknown[] = [];
  const warnings: unknown[] = [];
  const report = { info: INFO, freshness: FRESH };
  const logger = createLogger("warn", {
    write: (text) => {
      const { level, msg } = JSON.parse(text) as { readonly level: unknown; readonly msg: unknown };
      (level === "warn" ? warnings : errors).push(msg);
    },
  });
  const counted: (readonly [string, number])[] = [];
  const gone: WorkerProcess[] = [];
  const publisher = new LogPublisher({ ...sut, history: sut.hub.history, format: () => new Uint8Array() });
  /** How many follow the log now. */
  const counts = { following: 0 };
  const follow = publisher.follow.bind(publisher);
  publisher.follow = (listener) => {
    const { snapshot, stop } = follow(listener);
    counts.following += 1;
    const leave = () => {
      counts.following -= 1;
      stop();
    };
    return { snapshot, stop: leave };
  };
  const pool = new WorkerPool({
    ...{ workers, clock, logger, signal },
    spawn: () => {
      const child = new FakeChild(1_000 + children.length);
      children.push(child);
      return child;
    },
    start: (worker) => ({
      ...{ type: "start", worker, config: {}, keys: undefined, spent: [], report },
    }),
    publisher,
    answer: async (question) => {
      if (question.kind === "holder") return tickets.refOfTicket(question.ticket);
      throw new Error("secret of the primary");
    },
    report: () => report,
    onCapacity: () => {},
    onReturned: (socket) => leftOver.push(socket),
    onCounted: (keyId, requests) => counted.push([keyId, requests]),
    onGone: (worker) => gone.push(worker),
  });
  /** The `at`-th process, which has to have begun. */
  const child = (at: number) => {
    const found = children.at(at);
    if (!found) throw new Error(`process ${at} has not begun; there are ${children.length}`);
    return found;
  };
  const { hub, publish } = sut;
  return { clock, pool, children, child, leftOver, errors, warnings, counted, gone, counts, hub, publish };
}

/** Resolves when all of its workers serve. */
export async function serving({ pool, children }: ReturnType<typeof createPoolUnderTest>): Promise<void> {
  const started = pool.start();
  for (const child of children) child.say({ type: "ready" });
  await started;
}

/** A test that fails when timers or listeners outlive it. */
export const test = base.extend<{
  /** A pool that the test ends, or whose start fails. */
  createPool: typeof createPoolUnderTest;
  /** A pool whose workers all serve; ended behind the test. */
  startPool: (workers: number) => Promise<ReturnType<typeof createPoolUnderTest>>;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  createPool: async ({}, use) => {
    const made: ReturnType<typeof createPoolUnderTest>[] = [];
    await use((workers, signal) => {
      const pool = createPoolUnderTest(workers, signal);
      made.push(pool);
      return pool;
    });
    for (const { hub } of made) await hub.close();
  },
  startPool: async ({ createPool }, use) => {
    const made: ReturnType<typeof createPoolUnderTest>[] = [];
    await use(async (workers) => {
      const pool = createPool(workers);
      made.push(pool);
      await serving(pool);
      return pool;
    });
    for (const { pool, children } of made) {
      const drained = pool.drain(0);
      for (const child of children) child.end(0);
      await drained;
    }
  },
});
