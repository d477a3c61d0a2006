import { expect, test } from "vitest";
import type { Engine, LogNews } from "../../src/cluster/engine.ts";
import { type Entry, LOG_START } from "../../src/cluster/entry.ts";
import { seal } from "../../src/cluster/entry-text.ts";
import { ClusterAlerts } from "../../src/gateway/cluster/cluster-alerts.ts";
import { ClusterSource } from "../../src/gateway/cluster/cluster-source.ts";
import { encodeContent } from "../../src/gateway/cluster/entry-body.ts";
import { createLogger } from "../../src/gateway/create-logger.ts";
import { createConfig } from "../../src/index.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { createHubUnderTest, EPOCH, FRESH, INFO } from "../hub/hub-fixture.ts";

const never = () => new Promise<never>(() => {});

/** An engine with three entries, the last one not committed. They end when `rest` resolves. */
function engineWith(rest: Promise<unknown>): Engine {
  const entries: Entry[] = [];
  for (const kind of ["base", "alive", "alive"] as const) {
    const { offset, hash } = entries.at(-1) ?? LOG_START;
    const header = { kind, term: 1, by: "other", nonce: "", prev: hash, committed: offset, epoch: EPOCH };
    const body = encodeContent({ report: { info: INFO, freshness: FRESH } });
    entries.push(seal(offset + 1, header, body));
  }
  return {
    ...{ append: never, store: never, load: never, put: never, get: never, take: never, facts: never },
    ...{ notify: () => {}, onNotice: () => () => {}, close: async () => {} },
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

test("a node counts as stale until it has read the cluster's log to its end", async () => {
  const { log, head, hub } = createHubUnderTest();
  const rest = Promise.withResolvers<void>();
  const over = new AbortController();
  const source = new ClusterSource({
    ...{ config: createConfig({ cluster: "redis://127.0.0.1" }), clock: systemClock },
    ...{ logger: createLogger("silent"), engine: engineWith(rest.promise) },
    ...{ alerts: new ClusterAlerts(systemClock), start: undefined, source: undefined },
    ...{ enricherKeys: undefined, rejection: () => "" },
  });
  const sink = { position: undefined, begin: async () => {}, publish: async () => {} };
  const running = source.run({ log, head, history: hub.history, sink }, over.signal);
  await expect.poll(() => source.state.entries).toBe(2);
  expect([source.freshness().state, source.hasCaughtUp]).toEqual(["stale", false]);
  rest.resolve();
  await expect.poll(() => source.freshness().state).toBe("live");
  expect(source.hasCaughtUp).toBe(true);
  over.abort();
  await running;
});
