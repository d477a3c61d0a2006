import { expect, test } from "vitest";
import { createLogger } from "../../../../src/app/server/create-logger.ts";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { toEpoch, toSeq } from "../../../../src/base/protocol/index.ts";
import { MemoryLog } from "../../../../src/gateway/log/index.ts";
import { encodeLists } from "../../../../src/gateway/persistence/restored-state.ts";
import type { SnapshotSource } from "../../../../src/gateway/source/index.ts";
import type { MarketOpener } from "../../../../src/gateway/start/shared-log.ts";
import type { Engine, LogNews } from "../../../../src/scale/cluster/engine.ts";
import { type Entry, LOG_START } from "../../../../src/scale/cluster/entry.ts";
import { seal } from "../../../../src/scale/cluster/entry-text.ts";
import { ClusterSource } from "../../../../src/scale/cluster/node/cluster-source.ts";
import { ClusterTask } from "../../../../src/scale/cluster/node/cluster-task.ts";
import { encodeContent, type LogUpdate } from "../../../../src/scale/cluster/node/entry-body.ts";
import { Leading } from "../../../../src/scale/cluster/node/leading.ts";
import { ROOMY } from "../../../contract/event-log-contract.ts";
import { LedMarket } from "../../../examples/led-gateway.ts";
import { createHubUnderTest, EPOCH, FRESH, INFO } from "../../../gateway/hub/hub-fixture.ts";
import { SILENT_ENGINE } from "../silent-engine.ts";

/**
 * An engine with three entries. The first has the update, and the last is not committed. Once
 * `rest` resolves, it reports that its log has no more entries.
 */
function engineWith(rest: Promise<unknown>, update?: LogUpdate): Engine {
  const entries: Entry[] = [];
  for (const kind of ["base", "alive", "alive"] as const) {
    const { offset, hash } = entries.at(-1) ?? LOG_START;
    const header = { kind, term: 1, by: "other", nonce: "", prev: hash, committed: offset, epoch: EPOCH };
    const report = { info: INFO, freshness: FRESH };
    const body = encodeContent(kind === "base" && update ? { report, update } : { report });
    entries.push(seal(offset + 1, header, body));
  }
  return {
    ...SILENT_ENGINE,
    async *read(_from, signal): AsyncGenerator<LogNews> {
      for (const entry of entries) yield { kind: "entry", entry };
      await rest;
      while (!signal.aborted) {
        yield { kind: "idle", head: entries.at(-1) ?? LOG_START, isWritable: true };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }
    },
  };
}

/** A market that is this source. */
function marketOf(source: SnapshotSource): MarketOpener {
  return { fingerprint: "", settings: {}, needsEngine: false, open: () => ({ kind: "snapshots", source }) };
}

/** Joins a cluster with this engine until the test calls `end`. */
function join(engine: Engine, begin: () => Promise<void>) {
  const { head, hub } = createHubUnderTest();
  head.restart = begin;
  const over = new AbortController();
  const source = new ClusterSource({
    staleAfterMs: 15_000,
    clock: systemClock,
    logger: createLogger("silent"),
    engine,
    task: new ClusterTask(systemClock),
    start: undefined,
    market: marketOf(new LedMarket()),
    refusal: () => "",
    removal: "",
    common: { check: async () => {} },
  });
  const run = {
    log: new MemoryLog({ ...ROOMY, clock: systemClock, follows: true }),
    head,
    history: hub.history,
    persistence: { onPublished: () => {}, onReset: () => {} },
    onPublished: () => {},
  };
  const running = source.run(run, over.signal);
  const end = () => {
    over.abort();
    return running;
  };
  return { source, end };
}

test("a node is stale, and may lack events, until it has read the cluster's log to its end", async () => {
  const rest = Promise.withResolvers<void>();
  const { source, end } = join(engineWith(rest.promise), async () => {});
  await expect.poll(() => source.state.entries).toBe(2);
  expect([source.freshness().state, source.hasCaughtUp, source.mayLackEvents]).toEqual([
    "stale",
    false,
    true,
  ]);
  rest.resolve();
  await expect.poll(() => source.freshness().state).toBe("live");
  expect([source.hasCaughtUp, source.isConnected, source.mayLackEvents]).toEqual([true, true, false]);
  await end();
});

test("a node that cannot apply the cluster's log is down and reports the reason, and does not throw", async () => {
  const lists = encodeLists(createHubUnderTest().hub.history.lists);
  const cursor = { epoch: toEpoch(EPOCH), seq: toSeq(0) };
  const update = { type: "begin", cursor, positions: {}, observedAtMs: 1_000, lists } as const;
  const begin = () => Promise.reject(new Error("no memory is left"));
  const { source, end } = join(engineWith(Promise.resolve(), update), begin);
  await expect
    .poll(() => source.freshness())
    .toMatchObject({ state: "down", reason: "cannot apply the cluster's log: no memory is left" });
  expect(source.hasCaughtUp).toBe(false);
  await end();
});

test("alerts that cannot start in a new epoch report a failure of the source, and do not throw", async () => {
  const { log, head, hub, clock } = createHubUnderTest({ ready: false });
  const failures: unknown[] = [];
  let terms = 0;
  const lead = () => {
    terms += 1;
    if (terms > 1) throw new Error("the rules cannot be read");
  };
  const leading = new Leading(
    {
      clock,
      logger: createLogger("silent"),
      engine: engineWith(Promise.resolve()),
      market: marketOf(new LedMarket()),
      node: { append: async () => {}, abandon: () => {}, live: async () => {}, renew: () => {} },
      state: { log, head, history: hub.history, task: { content: "{}" } },
      common: { check: async () => {} },
      task: { lead, follow: () => {} },
      applied: async () => {},
      standing: () => undefined,
      freshness: () => FRESH,
      onFailure: (error: unknown) => failures.push(error),
    },
    { kind: "lead", term: 1, epoch: EPOCH, isNewEpoch: true },
    Promise.resolve(),
  );
  await expect
    .poll(() => leading.begin({ kind: "lead", term: 2, epoch: "next", isNewEpoch: true }))
    .toBe(true);
  expect(failures).toEqual([new Error("the rules cannot be read")]);
  await leading.stop();
});

test("a leader gives a sign of life right before and after it opens its source, which may block it", async () => {
  const { log, head, hub, clock } = createHubUnderTest({ ready: false });
  const order: string[] = [];
  const market = marketOf(new LedMarket());
  const leading = new Leading(
    {
      clock,
      logger: createLogger("silent"),
      engine: engineWith(Promise.resolve()),
      market: {
        ...market,
        open: (restored) => {
          order.push("open");
          return market.open(restored);
        },
      },
      node: {
        append: async () => {},
        abandon: () => {},
        renew: () => {},
        live: async () => void order.push("life"),
      },
      state: { log, head, history: hub.history, task: { content: "{}" } },
      common: { check: async () => {} },
      task: { lead: () => {}, follow: () => {} },
      applied: async () => {},
      standing: () => undefined,
      freshness: () => FRESH,
      onFailure: () => {},
    },
    { kind: "lead", term: 1, epoch: EPOCH, isNewEpoch: true },
    Promise.resolve(),
  );
  await expect.poll(() => order).toEqual(["life", "open", "life"]);
  await leading.stop();
});
