import { expect, test } from "vitest";
import type { Snapshot } from "../../../src/base/model/index.ts";
import type { Freshness } from "../../../src/base/protocol/index.ts";
import {
  type Poll,
  type Publication,
  runPoller,
  type SnapshotSource,
  watchFreshness,
} from "../../../src/gateway/source/index.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { flare, snapshotOf } from "./sample-snapshots.ts";

const AT = Date.UTC(2017, 10, 12);
const of = (...symbols: string[]): Snapshot => snapshotOf({ pro: symbols.map((symbol) => flare(symbol)) });

/** Returns a source whose polls are these snapshots and errors, one a second; then it ends. */
function sourceOf(...script: readonly (Snapshot | Error)[]): SnapshotSource {
  let count = 0;
  return {
    info: {
      name: "scripted",
      origin: "simulated",
      facts: { trades: false, liquidity: false, listings: false, profiles: false },
    },
    freshness: () => {
      throw new Error("not asked for");
    },
    async poll(): Promise<Poll | undefined> {
      const step = script[count];
      count += 1;
      if (step instanceof Error) throw step;
      return step && { observedAtMs: AT + count * 1_000, snapshot: step };
    },
  };
}

/**
 * Starts a poller whose publications and errors are recorded. `broken`: numbers of failing ones.
 */
function start(source: SnapshotSource, broken: readonly number[] = []) {
  const clock = new ManualClock();
  const stop = new AbortController();
  const published: Publication[] = [];
  const errors: unknown[] = [];
  let attempts = 0;
  const publish = async (publication: Publication) => {
    attempts += 1;
    if (broken.includes(attempts)) throw new Error("disk full");
    published.push(publication);
  };
  const random = () => 0.5;
  const onError = (error: unknown) => errors.push(error);
  const done = runPoller({ source, publish, clock, signal: stop.signal, onError, random });
  return { clock, stop, published, errors, done };
}

/** Runs a poller that resumes from an earlier process's state, until the source ends. */
async function resumePolling(source: SnapshotSource, resume: { snapshot: Snapshot; afterMs: number }) {
  const published: Publication[] = [];
  await runPoller({
    source,
    resume,
    publish: (publication) => void published.push(publication),
    clock: new ManualClock(),
    signal: new AbortController().signal,
    onError: (error) => {
      throw error;
    },
  });
  return published;
}

const reported = (published: readonly Publication[]) =>
  published.map(({ observedAtMs, snapshot, events }) => [
    observedAtMs - AT,
    snapshot.flares.pro.map(({ token }) => token.symbol).join(),
    events.map(({ name }) => name).join(),
  ]);

test("the first snapshot is published as the base without events, later ones with theirs, unchanged ones not at all", async () => {
  const { done, published, errors } = start(sourceOf(of("A"), of("A"), of("A", "B"), of("B")));
  await done;
  expect(reported(published)).toEqual([
    [1_000, "A", ""],
    [3_000, "A,B", "flare-started"],
    [4_000, "B", "flare-finished"],
  ]);
  expect(errors).toEqual([]);
});

test("a failed poll is reported, followed by a wait of at least a second that grows with each in a row, and loses no event", async () => {
  const bad = new Error("bad");
  const { clock, done, published, errors } = start(sourceOf(of("A"), bad, bad, of("B"), bad, of("C")));
  for (const expected of [[1_500], [1_500, 2_500], [1_500, 2_500, 1_500]]) {
    await clock.nextSleep();
    expect(clock.slept).toEqual(expected);
    clock.advance(30_000);
  }
  await done;
  expect(errors).toEqual([bad, bad, bad]);
  expect(reported(published).map(([, symbols]) => symbols)).toEqual(["A", "B", "C"]);
});

test("the wait after many failures stays within its limit", async () => {
  const { clock, stop, done } = start(sourceOf(...Array.from({ length: 12 }, () => new Error("bad"))));
  for (let failure = 1; failure <= 12; failure += 1) {
    await clock.nextSleep();
    clock.advance(60_000);
  }
  stop.abort();
  await done;
  expect(Math.max(...clock.slept)).toBe(15_500);
});

test("changes of a failed publication are in the next one", async () => {
  const { clock, done, published, errors } = start(sourceOf(of("A"), of("A", "B"), of("A", "B", "C")), [2]);
  await clock.nextSleep();
  clock.advance(10_000);
  await done;
  expect(errors).toEqual([new Error("disk full")]);
  expect(reported(published)).toEqual([
    [1_000, "A", ""],
    [3_000, "A,B,C", "flare-started,flare-started"],
  ]);
});

test("[L3] work after a publication that fails is reported, and neither repeats the events nor delays the next poll", async () => {
  const published: Publication[] = [];
  const errors: unknown[] = [];
  const outcomes: string[] = [];
  const clock = new ManualClock();
  await runPoller({
    source: sourceOf(of("A"), of("A", "B"), of("A", "B"), of("B")),
    publish: (publication) => void published.push(publication),
    afterPublish: () => {
      throw new RangeError("Invalid string length");
    },
    clock,
    signal: new AbortController().signal,
    onError: (error) => errors.push(error),
    onPoll: (outcome) => outcomes.push(outcome),
  });
  expect(reported(published)).toEqual([
    [1_000, "A", ""],
    [2_000, "A,B", "flare-started"],
    [4_000, "B", "flare-finished"],
  ]);
  expect(errors).toHaveLength(3);
  expect(outcomes).toEqual(["published", "published", "unchanged", "published"]);
  expect(clock.slept).toEqual([]);
});

test("after a failed publication of the base, the next publication is a base again", async () => {
  const { clock, done, published } = start(sourceOf(of("A"), of("B"), of("C")), [1]);
  await clock.nextSleep();
  clock.advance(10_000);
  await done;
  expect(reported(published)).toEqual([
    [2_000, "B", ""],
    [3_000, "C", "flare-finished,flare-started"],
  ]);
});

test("a snapshot that cannot be compared is reported, and the next one is compared with the last good one", async () => {
  const { clock, done, published, errors } = start(sourceOf(of("A"), of("B", "B"), of("A", "C")));
  await clock.nextSleep();
  clock.advance(10_000);
  await done;
  expect(errors).toEqual([expect.objectContaining({ code: "invalid-input" })]);
  expect(reported(published).at(-1)).toEqual([3_000, "A,C", "flare-started"]);
});

test("an abort ends the loop without an error, in a poll and in a wait", async () => {
  const waiting: SnapshotSource = {
    ...sourceOf(),
    poll: (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
      ),
  };
  const inPoll = start(waiting);
  inPoll.stop.abort(new Error("stopping"));
  await inPoll.done;
  expect(inPoll.errors).toEqual([]);

  const inWait = start(sourceOf(new Error("bad"), of("A")));
  await inWait.clock.nextSleep();
  inWait.stop.abort(new Error("stopping"));
  await inWait.done;
  expect(inWait.published).toEqual([]);
});

test("a change of the source's state is published once, within a second, at the event time of the last data", () => {
  const clock = new ManualClock();
  let now: Freshness = {
    state: "stale",
    reason: "nothing yet",
    observed_at: null,
    last_success_at: null,
    data_age_ms: 0,
  };
  const reported: unknown[] = [];
  const stop = watchFreshness({ freshness: () => now, clock, onChange: (event) => reported.push(event) });
  clock.advance(3_000);
  expect(reported).toEqual([]);
  now = { ...now, state: "live", reason: "", observed_at: "2017-11-12T08:21:00.000Z" };
  clock.advance(1_000);
  now = { ...now, state: "down", reason: "refused" };
  clock.advance(1_000);
  now = { ...now, reason: "refused again" };
  clock.advance(5_000);
  expect(reported).toEqual([
    {
      name: "source-status",
      channel: "status",
      observed_at: "2017-11-12T08:21:00.000Z",
      data: { state: "live", reason: "" },
    },
    {
      name: "source-status",
      channel: "status",
      observed_at: "2017-11-12T08:21:00.000Z",
      data: { state: "down", reason: "refused" },
    },
  ]);
  stop();
  now = { ...now, state: "live" };
  clock.advance(5_000);
  expect(reported).toHaveLength(2);
});

test("a source that is down before any data is reported at wall-clock time", () => {
  const clock = new ManualClock();
  let state: Freshness["state"] = "stale";
  const reported: string[] = [];
  const freshness = (): Freshness => ({
    state,
    reason: "",
    observed_at: null,
    last_success_at: null,
    data_age_ms: 0,
  });
  watchFreshness({ freshness, clock, onChange: (event) => reported.push(event.observed_at) });
  state = "down";
  clock.advance(1_000);
  expect(reported).toEqual(["2026-01-01T00:00:01.000Z"]);
});

test("[L3] the state that an earlier process published is the base: polls up to its event time are skipped, and the first later one is compared with it", async () => {
  const source = sourceOf(of(), of("A"), of("A"), of("A", "B"), of("B"));
  const published = await resumePolling(source, { snapshot: of("A"), afterMs: AT + 3_000 });
  expect(reported(published)).toEqual([
    [4_000, "A,B", "flare-started"],
    [5_000, "B", "flare-finished"],
  ]);
});

test("a source that does not reach that event time is compared at once, without events if nothing changed", async () => {
  const afterMs = Number.NEGATIVE_INFINITY;
  expect(reported(await resumePolling(sourceOf(of("A")), { snapshot: of("A"), afterMs }))).toEqual([]);
  const published = await resumePolling(sourceOf(of("B")), { snapshot: of("A"), afterMs });
  expect(published.map(({ events }) => events.map(({ name }) => name).sort())).toEqual([
    ["flare-finished", "flare-started"],
  ]);
});
