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

/** A crew whose workers' processes the test leads. */
function createCrewUnderTest(workers: number) {
  const clock = new ManualClock();
  const sut = createHubUnderTest();
  const tickets = new TicketTable(clock);
  const children: FakeChild[] = [];
  const leftOver: Socket[] = [];
  const errors: unknown[] = [];
  const report = { info: INFO, freshness: FRESH };
  const logger = createLogger("error", {
    write: (text) => void errors.push((JSON.parse(text) as { readonly msg: unknown }).msg),
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
  const crew = new WorkerPool({
    ...{ workers, clock, logger },
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
      if (question.kind === "holder") return tickets.keyOf(question.ticket);
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
  return { clock, crew, children, child, leftOver, errors, counted, gone, counts, hub, publish };
}

/** Resolves when all of its workers serve. */
export async function serving({ crew, children }: ReturnType<typeof createCrewUnderTest>): Promise<void> {
  const started = crew.start();
  for (const child of children) child.say({ type: "ready" });
  await started;
}

/** A test that fails when timers or listeners outlive it. */
export const test = base.extend<{
  /** A crew that the test ends, or whose start fails. */
  createCrew: typeof createCrewUnderTest;
  /** A crew whose workers all serve; ended behind the test. */
  startCrew: (workers: number) => Promise<ReturnType<typeof createCrewUnderTest>>;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that are used out of this pattern
  createCrew: async ({}, use) => {
    const made: ReturnType<typeof createCrewUnderTest>[] = [];
    await use((workers) => {
      const crew = createCrewUnderTest(workers);
      made.push(crew);
      return crew;
    });
    for (const { hub } of made) await hub.close();
  },
  startCrew: async ({ createCrew }, use) => {
    const made: ReturnType<typeof createCrewUnderTest>[] = [];
    await use(async (workers) => {
      const crew = createCrew(workers);
      made.push(crew);
      await serving(crew);
      return crew;
    });
    for (const { crew, children } of made) {
      const drained = crew.drain(0);
      for (const child of children) child.end(0);
      await drained;
    }
  },
});
