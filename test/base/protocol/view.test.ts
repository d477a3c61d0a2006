import { expect, test } from "vitest";
import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import {
  applyEvent,
  ChangeMismatch,
  changesOf,
  type EventBody,
  listOf,
  projectSnapshot,
} from "../../../src/base/protocol/index.ts";
import { explanation, flare, listing, snapshotOf } from "../../gateway/source/sample-snapshots.ts";
import { SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const bcc = flare("BCC");
const why = explanation();
const NOW = "2017-11-12T08:35:00.000Z";
const started: EventBody = {
  name: "flare-started",
  channel: "flares.pro",
  observed_at: NOW,
  data: { op: "insert", index: 0, flare: bcc, why, cause: "detected" },
};
const status: EventBody = {
  name: "source-status",
  channel: "status",
  observed_at: NOW,
  data: { state: "stale", reason: "silence" },
};

test("a view has the lists of its channels and the explanations of the flares in them, and no others", () => {
  const neo = flare("NEO");
  const snapshot = snapshotOf(
    { pro: [bcc, neo], free: [neo], newest: [listing("AAA")] },
    { BCC: why, NEO: why },
  );
  expect(projectSnapshot(snapshot, ["flares.free", "newest.bsc", "status"])).toEqual({
    flares: { free: [neo] },
    newest: { bsc: [listing("AAA")] },
    explanations: { [neo.id]: why },
  });
  expect(projectSnapshot(snapshot, [])).toEqual({ explanations: {} });
});

test("an event of a list that is not in the view, of status, or of an unknown channel changes nothing", () => {
  const view = projectSnapshot(EMPTY_SNAPSHOT, ["flares.free"]);
  expect(applyEvent(view, started)).toBe(view);
  expect(applyEvent(view, status)).toBe(view);
  const later = { ...started, channel: "wallets.bsc" } as unknown as EventBody;
  expect(applyEvent(view, later)).toBe(view);
});

test("an event cannot be applied twice", () => {
  const once = applyEvent(EMPTY_SNAPSHOT, started);
  expect(listOf(once, "flares.pro")).toEqual([bcc]);
  expect(() => applyEvent(once, started)).toThrow(ChangeMismatch);
});

test("applyEvent does not change the given view", () => {
  const before = structuredClone(EMPTY_SNAPSHOT);
  applyEvent(EMPTY_SNAPSHOT, started);
  expect(EMPTY_SNAPSHOT).toEqual(before);
});

test("an explanation stays until its flare leaves the last list of the view", () => {
  const view = projectSnapshot(snapshotOf({ pro: [bcc], free: [bcc] }, { BCC: why }), [
    "flares.free",
    "flares.pro",
  ]);
  const leaves = (channel: "flares.free" | "flares.pro"): EventBody => ({
    name: "flare-finished",
    channel,
    observed_at: NOW,
    data: { op: "remove", id: bcc.id, flare: bcc, why, cause: "faded", outcome: null },
  });
  const one = applyEvent(view, leaves("flares.free"));
  expect(one.explanations).toEqual({ [bcc.id]: why });
  expect(applyEvent(one, leaves("flares.pro")).explanations).toEqual({});
});

test("[W42] a flare's outcome is that of its latest event, until the flare leaves the finished flares", () => {
  const finished = { channel: "flares.finished", observed_at: NOW } as const;
  const view = projectSnapshot(snapshotOf({}), ["flares.finished"]);
  expect(view.outcomes).toEqual({});
  const data = { op: "insert", index: 0, flare: bcc, why, cause: "faded", outcome: SAMPLE_OUTCOME } as const;
  const ended = applyEvent(view, { ...finished, name: "flare-finished", data });
  expect(ended.outcomes).toEqual({ [bcc.id]: SAMPLE_OUTCOME });
  const outcome = { ...SAMPLE_OUTCOME, change_60m: 1, final: true };
  const hour = { op: "set" as const, id: bcc.id, set: {}, outcome };
  const final = applyEvent(ended, { ...finished, name: "flare-outcome", data: hour });
  expect(final).toEqual({ ...ended, outcomes: { [bcc.id]: outcome } });
  const gone = { op: "remove" as const, id: bcc.id };
  expect(applyEvent(final, { ...finished, name: "flare-expired", data: gone })).toEqual(view);
});

test("views without the finished flares have no outcomes", () => {
  const snapshot = { ...snapshotOf({ pro: [bcc] }), outcomes: { [bcc.id]: SAMPLE_OUTCOME } };
  expect(projectSnapshot(snapshot, ["flares.pro"])).not.toHaveProperty("outcomes");
});

test("the changes of an event are those of its data", () => {
  expect(changesOf(started)).toEqual([{ op: "insert", index: 0, item: bcc }]);
  expect(changesOf(status)).toEqual([]);
});
