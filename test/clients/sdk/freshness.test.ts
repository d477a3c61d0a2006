import { expect, test } from "vitest";
import { createFreshness } from "../../../src/clients/sdk/freshness.ts";
import type { TransportMessage } from "../../../src/clients/sdk/transport/transport.ts";
import { fillingText } from "../../../src/clients/text/filling-text.ts";
import { FRESH } from "../../gateway/hub/hub-fixture.ts";

/** Returns an event that was observed this many minutes after eight. */
const eventOf = (minutes: number): TransportMessage =>
  JSON.parse(`{"type":"event","observed_at":"2017-11-12T08:${minutes}:00.000Z"}`);
const heartbeat = (freshness: object): TransportMessage =>
  JSON.parse(JSON.stringify({ type: "heartbeat", cursor: "abcd-1", freshness: { ...FRESH, ...freshness } }));

test("[W16] the data age grows until the next heartbeat, and is unknown before the first", () => {
  let nowMs = 5_000;
  const freshness = createFreshness(() => nowMs);
  freshness.note(eventOf(50));
  expect(freshness.now()).toBeUndefined();
  freshness.note(heartbeat({ data_age_ms: 400 }));
  for (const [atMs, ageMs] of [
    [5_000, 400],
    [6_000, 1_400],
    [65_000, 60_400],
  ] as const) {
    nowMs = atMs;
    expect(freshness.now()).toEqual({ state: "live", reason: "", ageMs, observedAt: FRESH.observed_at });
  }
  freshness.note(heartbeat({ state: "stale", reason: "slow", data_age_ms: 90_000 }));
  expect(freshness.now()).toMatchObject({ state: "stale", reason: "slow", ageMs: 90_000 });
});

test("[W41] the progress of reading the past is shown as a text until the past is read", () => {
  const freshness = createFreshness(() => 0);
  const part = { state: "live", reason: "", observed_at: null, data_age_ms: 0 };
  const parts = [
    { ...part, name: "exchange" },
    { ...part, name: "bsc", filling: { read_ms: 41_999, of_ms: 90_000 } },
    { ...part, name: "polygon", filling: { read_ms: 0, of_ms: 600_000 } },
  ];
  freshness.note(heartbeat({ parts }));
  expect(fillingText(freshness.now() ?? {})).toBe("bsc: 41 of 90 s, polygon: 0 of 600 s");
  freshness.note(heartbeat({}));
  expect(fillingText(freshness.now() ?? {})).toBe("");
});

test("[W16] backlog events do not make old data look fresh; an event newer than the last known time does", () => {
  let nowMs = 0;
  const freshness = createFreshness(() => nowMs);
  freshness.note(heartbeat({ observed_at: "2017-11-12T08:36:00.000Z", data_age_ms: 9_000 }));
  nowMs = 1_000;
  for (const minutes of [20, 35, 36]) {
    freshness.note(eventOf(minutes));
    expect(freshness.now()).toMatchObject({ ageMs: 10_000, observedAt: "2017-11-12T08:36:00.000Z" });
  }
  freshness.note(eventOf(37));
  nowMs = 1_500;
  expect(freshness.now()).toMatchObject({ ageMs: 500, observedAt: "2017-11-12T08:37:00.000Z" });
  freshness.note(eventOf(36));
  expect(freshness.now()).toMatchObject({ ageMs: 500, observedAt: "2017-11-12T08:37:00.000Z" });
});

test("[W16] an event of a source that is not live leaves the age as reported, because the source may be catching up", () => {
  let nowMs = 0;
  const freshness = createFreshness(() => nowMs);
  freshness.note(
    heartbeat({ state: "stale", observed_at: "2017-11-12T08:36:00.000Z", data_age_ms: 600_000 }),
  );
  nowMs = 1_000;
  freshness.note(eventOf(37));
  expect(freshness.now()).toMatchObject({ ageMs: 601_000, observedAt: "2017-11-12T08:37:00.000Z" });
  freshness.note(
    JSON.parse(
      '{"type":"event","name":"source-status","observed_at":"2017-11-12T08:37:00.000Z","data":{"state":"live","reason":""}}',
    ),
  );
  nowMs = 1_200;
  expect(freshness.now()).toMatchObject({ state: "live", ageMs: 200 });
});

test("[W16] a change of the source's state applies at once, unless it comes from the backlog", () => {
  const status = (minutes: number, state: string, reason: string): TransportMessage =>
    JSON.parse(
      `{"type":"event","name":"source-status","observed_at":"2017-11-12T08:${minutes}:00.000Z","data":{"state":"${state}","reason":"${reason}"}}`,
    );
  let nowMs = 0;
  const freshness = createFreshness(() => nowMs);
  freshness.note(
    heartbeat({
      state: "stale",
      reason: "no data yet",
      observed_at: "2017-11-12T08:36:00.000Z",
      data_age_ms: 9_000,
    }),
  );
  freshness.note(status(20, "down", "of yesterday"));
  expect(freshness.now()).toMatchObject({ state: "stale", reason: "no data yet" });
  nowMs = 1_000;
  freshness.note(status(37, "live", ""));
  expect(freshness.now()).toMatchObject({ state: "live", reason: "", ageMs: 0 });
  nowMs = 3_000;
  freshness.note(status(37, "stale", "slow"));
  nowMs = 4_000;
  expect(freshness.now()).toMatchObject({ state: "stale", reason: "slow", ageMs: 3_000 });
});

test("[W16] if the heartbeat has no observation time, the first event provides it", () => {
  const freshness = createFreshness(() => 0);
  freshness.note(heartbeat({ observed_at: null, data_age_ms: 9_000 }));
  freshness.note(eventOf(10));
  expect(freshness.now()).toMatchObject({ ageMs: 0, observedAt: "2017-11-12T08:10:00.000Z" });
});
