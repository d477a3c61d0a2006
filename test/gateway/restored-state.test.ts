import { expect, test } from "vitest";
import { encodeLists, formatState, restoreState } from "../../src/gateway/persistence/restored-state.ts";
import type { StoredLog } from "../../src/log/index.ts";
import { formatMarks, type Lists } from "../../src/protocol/index.ts";
import { createHubUnderTest } from "../hub/hub-fixture.ts";

const textOf = (lists: Lists) => JSON.stringify([lists.snapshot, formatMarks(lists)]);

const SETTINGS = "settings 1";

/** What a process left behind that kept its state in the middle of its events. */
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
  const kept: StoredLog = {
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
  return { kept, lists: hub.history.lists };
}

test("[L2] [L3] a process resumes from the state that was stored last and every later event, once", async () => {
  const { kept, lists } = await stored();
  const restored = restoreState(kept, SETTINGS, false);
  if ("problem" in restored) throw new Error(restored.problem);
  expect(textOf(restored.known.lists)).toBe(textOf(lists));
  expect(restored.known.checkpoints.map(({ seq }) => seq)).toEqual([2]);
});

test.each<[string, Partial<StoredLog>, RegExp]>([
  ["of other settings", { fingerprint: "settings 2" }, /settings differ from those of the log/],
  ["that nobody can vouch for", { doubt: "the file was set back" }, /^the file was set back$/],
  ["without a state", { state: undefined }, /before its first snapshot/],
  ["without the events behind its state", { oldest: 4 }, /the events 3 to 4 are missing/],
  ["without the lists of its state", { checkpoints: [] }, /lists of the stored state are missing/],
  ["whose state is broken", { state: { seq: 2, text: "{}" } }, /cannot be read/],
])("[L3] a log %s is not gone on from, and the reason is said", async (_, more, reason) => {
  const { kept } = await stored(more);
  expect(restoreState(kept, SETTINGS, false)).toEqual({ problem: expect.stringMatching(reason) });
});

test("[L3] without a checkpoint an engine cannot resume, and another source can", async () => {
  const { kept } = await stored();
  expect(restoreState(kept, SETTINGS, true)).toMatchObject({
    problem: expect.stringContaining("checkpoint"),
  });
  expect(restoreState(kept, SETTINGS, false)).toHaveProperty("known");
});
