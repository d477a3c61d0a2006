import { expect, test } from "vitest";
import { restoreState } from "../../../src/app/data/restore-state.ts";
import type { StoredLog } from "../../../src/app/data/stored-log.ts";
import { formatMarks, type Lists } from "../../../src/base/protocol/index.ts";
import { encodeLists, formatState } from "../../../src/gateway/persistence/restored-state.ts";
import { createHubUnderTest } from "../../gateway/hub/hub-fixture.ts";

const textOf = (lists: Lists) => JSON.stringify([lists.snapshot, formatMarks(lists)]);

const SETTINGS = "settings 1";

/** Returns what a process stored that saved its state in the middle of its events. */
async function stored(more: Partial<StoredLog> = {}) {
  const { log, head, hub, publish } = createHubUnderTest();
  await publish("list", "flare");
  const state = { seq: head.cursor.seq, text: formatState(head, undefined) };
  const checkpoints = [{ seq: head.cursor.seq, bytes: encodeLists(hub.history.lists) }];
  await publish("refresh", "list", "status");
  await publish("unlist", "flare");
  const read = await log.read(log.oldest, 1_000);
  if (read.kind !== "records") throw new Error("the log is not whole");
  const { epoch, positions } = log;
  const storedLog: StoredLog = {
    ...{
      epoch,
      positions,
      state,
      checkpoints,
      fingerprint: SETTINGS,
      closedInOrder: false,
      doubt: undefined,
    },
    ...{ records: read.records, runs: [], oldest: 0, oldestLasting: 0 },
    ...more,
  };
  return { storedLog, lists: hub.history.lists };
}

test("[L2] [L3] a process resumes from the last stored state and applies every later event once", async () => {
  const { storedLog, lists } = await stored();
  const restored = restoreState(storedLog, SETTINGS, false);
  if ("problem" in restored) throw new Error(restored.problem);
  expect(textOf(restored.known.lists)).toBe(textOf(lists));
  expect(restored.known.checkpoints.map(({ seq }) => seq)).toEqual([2]);
});

test.each<[string, Partial<StoredLog>, RegExp]>([
  ["of other settings", { fingerprint: "settings 2" }, /settings differ from those of the log/],
  ["whose completeness is in doubt", { doubt: "the file was set back" }, /^the file was set back$/],
  ["without a state", { state: undefined }, /before its first snapshot/],
  ["without the events after its state", { oldest: 4 }, /the events 3 to 4 are missing/],
  ["without the lists of its state", { checkpoints: [] }, /lists of the stored state are missing/],
  ["whose state is damaged", { state: { seq: 2, text: "{}" } }, /cannot be read/],
])("[L3] a log %s is not resumed, and the problem names the reason", async (_, more, reason) => {
  const { storedLog } = await stored(more);
  expect(restoreState(storedLog, SETTINGS, false)).toEqual({ problem: expect.stringMatching(reason) });
});

test("[L3] without a checkpoint of the engine, an engine cannot resume, but another source can", async () => {
  const { storedLog } = await stored();
  expect(restoreState(storedLog, SETTINGS, true)).toMatchObject({
    problem: expect.stringContaining("checkpoint"),
  });
  expect(restoreState(storedLog, SETTINGS, false)).toHaveProperty("known");
});
