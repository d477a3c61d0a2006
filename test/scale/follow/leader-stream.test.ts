import { expect, test } from "vitest";
import { readLeaderMessage } from "../../../src/scale/follow/leader-message.ts";
import { LeaderStream } from "../../../src/scale/follow/leader-stream.ts";
import { BEGUN, statusEvent } from "./scripted-leader.ts";

const MAX_EVENTS = 100_000;
const MAX_CHARACTERS = 64 * 2 ** 20;

/**
 * Creates a stream at `abcd-5`, and a function that gives it a frame which counts as `characters`
 * long.
 */
function begun() {
  const stream = new LeaderStream(undefined);
  const take = (frame: object, characters = 100) =>
    stream.take(readLeaderMessage(JSON.stringify(frame)), characters);
  take(BEGUN);
  return { stream, take };
}

/** Creates a stream that requested the events after `abcd-5`. */
function requestedStream() {
  const { position } = begun().stream;
  const stream = new LeaderStream(position);
  return (frame: object) => stream.take(readLeaderMessage(JSON.stringify(frame)));
}

const RESUMED = { type: "subscribed", id: "url", channels: [], cursor: "abcd-5", resumed: "full" };

/** Returns an event of the market, observed this many seconds past eight. */
const listed = (seq: number, batch: number, second: number) => ({
  ...statusEvent(seq, batch),
  name: "token-updated",
  channel: "newest.bsc",
  observed_at: `2017-11-12T08:00:0${second}.000Z`,
  data: { op: "order", ids: [] },
});

test("[F7] a batch of 100,000 events is accepted, and one of 100,001 refused", () => {
  const { take } = begun();
  expect(take(statusEvent(6, 5 + MAX_EVENTS)).kind).toBe("nothing");
  expect(() => begun().take(statusEvent(6, 6 + MAX_EVENTS))).toThrow(/batch that ends with 100006/);
});

test("[F7] the characters of one batch are limited, not those of the connection", () => {
  const { take } = begun();
  for (const seq of [7, 9, 11]) {
    expect(take(statusEvent(seq - 1, seq), MAX_CHARACTERS - 1).kind).toBe("nothing");
    expect(take(statusEvent(seq), 1).kind).toBe("batch");
  }
  take(statusEvent(12, 13), MAX_CHARACTERS);
  expect(() => take(statusEvent(13), 1)).toThrow(/more than 67108864 characters/);
});

test("[F5] a repeated event is ignored, also in the middle of a batch, and none is counted twice", () => {
  const { stream, take } = begun();
  expect(take(statusEvent(5)).kind).toBe("nothing");
  take(statusEvent(6, 8));
  expect(take(statusEvent(6, 8)).kind).toBe("nothing");
  take(statusEvent(7, 8));
  const step = take(statusEvent(8));
  expect(step.kind === "batch" && step.batch.events.map(({ seq }) => seq)).toEqual([6, 7, 8]);
  expect(stream.position?.cursor.seq).toBe(8);
  expect(() => take(statusEvent(10))).toThrow("event 9 is missing before 10");
});

test("[F7] a resumption from another cursor, or a second one, is a violation", () => {
  const take = requestedStream();
  expect(() => take({ ...RESUMED, cursor: "abcd-4" })).toThrow(/which was not requested/);
  expect(() => take({ ...RESUMED, cursor: "efgh-5" })).toThrow(/which was not requested/);
  expect(() => take(statusEvent(6))).toThrow(/before confirming the subscription/);
  expect(take(RESUMED).kind).toBe("resumed");
  expect(() => take(RESUMED)).toThrow(/which was not requested/);
  expect(() => take(BEGUN)).toThrow(/a second base/);
  expect(take(statusEvent(6)).kind).toBe("batch");
});

test("[F4] a batch has the age of its last market event, and no age without one", () => {
  const { take } = begun();
  const quiet = take(statusEvent(6));
  expect(quiet).toMatchObject({ kind: "batch", batch: { observedAtMs: undefined } });
  take(listed(7, 9, 1));
  take(listed(8, 9, 2));
  const news = take(statusEvent(9));
  expect(news).toMatchObject({ batch: { observedAtMs: Date.UTC(2017, 10, 12, 8, 0, 2) } });
});
