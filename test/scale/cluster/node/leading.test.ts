import { expect, test } from "vitest";
import { createLogger } from "../../../../src/app/server/create-logger.ts";
import { encodeLists } from "../../../../src/gateway/persistence/restored-state.ts";
import { resumeOf } from "../../../../src/gateway/source/index.ts";
import type { Lead } from "../../../../src/scale/cluster/cluster-node.ts";
import type { Checkpoint, Engine } from "../../../../src/scale/cluster/engine.ts";
import { LOG_START } from "../../../../src/scale/cluster/entry.ts";
import { decodeContent, type LogUpdate } from "../../../../src/scale/cluster/node/entry-body.ts";
import { Leading } from "../../../../src/scale/cluster/node/leading.ts";
import { LedMarket } from "../../../examples/led-gateway.ts";
import { createHubUnderTest, EPOCH, FRESH } from "../../../gateway/hub/hub-fixture.ts";
import { SILENT_ENGINE } from "../silent-engine.ts";

const SAME: Lead = { kind: "lead", term: 1, epoch: EPOCH, isNewEpoch: false };
const NEXT: Lead = { kind: "lead", term: 1, epoch: "next", isNewEpoch: true };

/** Leads a cluster from a state in the epoch {@link EPOCH}. */
function lead(first: Lead, isResumed = false) {
  const { log, head, hub, clock } = createHubUnderTest();
  const market = new LedMarket();
  const updates: LogUpdate[] = [];
  const stored: Checkpoint[] = [];
  const terms: boolean[] = [];
  const engine: Engine = {
    ...SILENT_ENGINE,
    store: async (checkpoint) => {
      stored.push(checkpoint);
      return "stored";
    },
  };
  const leading = new Leading(
    {
      clock,
      logger: createLogger("silent"),
      engine,
      market: {
        fingerprint: "",
        settings: {},
        needsEngine: false,
        open: (restored) => ({
          kind: "snapshots",
          source: market,
          ...(isResumed && restored ? { resume: resumeOf(restored, restored.observedAtMs) } : {}),
        }),
      },
      node: {
        append: async (body) => {
          const update = decodeContent({ header: { epoch: EPOCH, term: 1 }, body })?.update;
          if (update) updates.push(update);
        },
        abandon: () => {},
        live: async () => {},
        renew: () => {},
      },
      state: { log, head, history: hub.history, task: { content: "{}" } },
      common: { check: async () => {} },
      task: { lead: (_append, isNewEpoch) => void terms.push(isNewEpoch), follow: () => {} },
      applied: async () => {},
      standing: () => ({ position: LOG_START, epoch: EPOCH, term: 1 }),
      freshness: () => FRESH,
      onFailure: () => {},
    },
    first,
    Promise.resolve(),
  );
  const lists = Buffer.from(encodeLists(hub.history.lists));
  return { leading, market, updates, stored, terms, lists };
}

test("a leader begins a new epoch only once its source has published, and not after it was stopped", async () => {
  const { leading, updates } = lead(SAME);
  expect(leading.begin(NEXT)).toBe(false);
  await expect.poll(() => updates.length).toBe(1);
  await expect.poll(() => leading.opened).toBeDefined();
  await leading.stop();
  expect(leading.begin(NEXT)).toBe(false);
});

test("a leader that begins a new epoch publishes the lists that clients hold, takes over the alerts again, and stores its state after the next poll", async () => {
  const { leading, market, updates, stored, terms, lists } = lead(SAME);
  await expect.poll(() => stored.length).toBe(1);
  market.start("ONE");
  await expect.poll(() => updates.map(({ type }) => type)).toEqual(["begin", "batch"]);
  expect(leading.begin(NEXT)).toBe(true);
  await expect.poll(() => updates.length).toBe(3);
  const [begin] = updates.slice(2);
  expect(begin?.type === "begin" && Buffer.from(begin.lists)).toEqual(lists);
  expect(terms).toEqual([false, true]);
  market.start("TWO");
  await expect.poll(() => stored.length).toBe(2);
  await leading.stop();
});

test.each([
  { what: "an epoch that the log has, publishes no lists", first: SAME, expected: ["batch"] },
  { what: "a new epoch, publishes the lists before events", first: NEXT, expected: ["begin", "batch"] },
])("a leader that resumes in $what", async ({ first, expected }) => {
  const { leading, market, updates } = lead(first, true);
  market.start("ONE");
  await expect.poll(() => updates.map(({ type }) => type)).toEqual(expected);
  await leading.stop();
});
