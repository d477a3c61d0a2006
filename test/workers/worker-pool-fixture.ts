import type { Socket } from "node:net";
import { TicketTable } from "../../src/gateway/keys/index.ts";
import { createLogger } from "../../src/gateway/start/create-logger.ts";
import { LogPublisher } from "../../src/workers/primary/log-publisher.ts";
import { WorkerPool } from "../../src/workers/primary/worker-pool.ts";
import type { WorkerProcess } from "../../src/workers/primary/worker-process.ts";
import { createHubUnderTest, FRESH, INFO } from "../gateway/hub/hub-fixture.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { test as base } from "../support/time/still-running.ts";
import { FakeChild } from "./fake-child.ts";

/** Creates a pool whose worker processes the test drives. */
function createPoolUnderTest(workers: number, signal?: AbortSignal) {
  const clock = new ManualClock();
  const sut = createHubUnderTest();
  const tickets = new TicketTable(clock);
  const children: FakeChild[] = [];
  const returned: Socket[] = [];
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
  const publisher = new LogPublisher({ ...sut, history: sut.hub.history, encode: () => new Uint8Array() });
  /** Number of current followers of the log. */
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
    onReturned: (socket) => returned.push(socket),
    onCounted: (keyId, requests) => counted.push([keyId, requests]),
    onGone: (worker) => gone.push(worker),
  });
  /** Returns process number `at`. Throws if it has not been started. */
  const child = (at: number) => {
    const found = children.at(at);
    if (!found) throw new Error(`process ${at} has not been started; there are ${children.length}`);
    return found;
  };
  const { hub, publish } = sut;
  return { clock, pool, children, child, returned, errors, warnings, counted, gone, counts, hub, publish };
}

/** Starts the pool. Resolves when all workers are ready. */
export async function startServing({
  pool,
  children,
}: ReturnType<typeof createPoolUnderTest>): Promise<void> {
  const started = pool.start();
  for (const child of children) child.say({ type: "ready" });
  await started;
}

/** Tests that fail if timers or listeners outlive them. */
export const test = base.extend<{
  /** Creates a pool that the test drains, or whose start fails. */
  createPool: typeof createPoolUnderTest;
  /** Creates a pool whose workers are all ready. It is drained after the test. */
  startPool: (workers: number) => Promise<ReturnType<typeof createPoolUnderTest>>;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  createPool: async ({}, use) => {
    const pools: ReturnType<typeof createPoolUnderTest>[] = [];
    await use((workers, signal) => {
      const pool = createPoolUnderTest(workers, signal);
      pools.push(pool);
      return pool;
    });
    for (const { hub } of pools) await hub.close();
  },
  startPool: async ({ createPool }, use) => {
    const pools: ReturnType<typeof createPoolUnderTest>[] = [];
    await use(async (workers) => {
      const pool = createPool(workers);
      pools.push(pool);
      await startServing(pool);
      return pool;
    });
    for (const { pool, children } of pools) {
      const drained = pool.drain(0);
      for (const child of children) child.end(0);
      await drained;
    }
  },
});
