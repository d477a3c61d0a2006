import { expect, test } from "vitest";
import { LeaderHealth } from "../../../src/scale/follow/leader-health.ts";
import { FRESH } from "../../gateway/hub/hub-fixture.ts";

const WALL = Date.UTC(2026, 0, 1);
const LIMIT = 15_000;

function health() {
  const it = new LeaderHealth(LIMIT, 0);
  const at = (ms: number) => it.judge(ms, WALL + ms);
  return { it, at };
}

test("[F4] the age is the leader's plus the time since, by this machine's clock", () => {
  const { it, at } = health();
  it.noteMessage(1_000);
  it.noteReport({ ...FRESH, data_age_ms: 400, last_success_at: "2099-01-01T00:00:00.000Z" }, 1_000, 15_000);
  expect(at(6_000)).toEqual({
    state: "live",
    reason: "",
    observed_at: FRESH.observed_at,
    last_success_at: new Date(WALL + 600).toISOString(),
    data_age_ms: 5_400,
  });
  it.noteBatch("2017-11-12T09:00:00.000Z", 7_000);
  expect(at(7_250)).toMatchObject({ observed_at: "2017-11-12T09:00:00.000Z", data_age_ms: 250 });
  // The leader reports a higher age than that of the batch. The lower age counts.
  it.noteReport({ ...FRESH, data_age_ms: 5_000 }, 8_000);
  expect(at(8_000).data_age_ms).toBe(1_000);
});

test("[F4] an age that reaches back before 1970 is bounded, because its time could not be written", () => {
  const { it, at } = health();
  it.noteReport({ ...FRESH, state: "stale", data_age_ms: Number.MAX_SAFE_INTEGER }, 0);
  expect(at(1_000)).toMatchObject({
    last_success_at: "1970-01-01T00:00:00.000Z",
    data_age_ms: WALL + 1_000,
  });
});

test("[F4] while the leader's source catches up, its events are as old as it reports, and new once it is live", () => {
  const { it, at } = health();
  it.noteReport({ ...FRESH, state: "stale", data_age_ms: 600_000 }, 0);
  it.noteBatch("2017-11-12T09:00:00.000Z", 1_000);
  expect(at(2_000)).toMatchObject({ observed_at: "2017-11-12T09:00:00.000Z", data_age_ms: 602_000 });
  it.noteReport({ ...FRESH, state: "stale", data_age_ms: 540_000 }, 3_000);
  expect(at(3_000)).toMatchObject({ state: "stale", data_age_ms: 540_000 });
  it.noteReport({ ...FRESH, state: "stale", data_age_ms: 541_000 }, 3_500);
  expect(at(3_500).data_age_ms).toBe(541_000);
  // A leader checks its source's state once a second, so the last batch may come before.
  it.noteBatch("2017-11-12T09:10:00.000Z", 3_900);
  it.noteStatus("live", "", 4_000);
  expect(at(4_100)).toMatchObject({ state: "live", data_age_ms: 100 });
  it.noteStatus("live", "one part is late", 5_000);
  expect(at(5_000)).toMatchObject({ state: "live", reason: "one part is late", data_age_ms: 1_000 });
});

test("[F4] the leader's report on its source is passed on unchanged, as freshness and as an event", () => {
  const { it, at } = health();
  it.noteReport({ ...FRESH, state: "stale", reason: "the recording has ended" }, 0);
  expect(at(10)).toMatchObject({ state: "stale", reason: "the recording has ended" });
  it.noteStatus("down", "the exchange fails", 20);
  expect(at(30)).toMatchObject({ state: "down", reason: "the exchange fails" });
  it.noteReport({ ...FRESH, reason: "events are held in memory only" }, 40);
  expect(at(50)).toMatchObject({ state: "live", reason: "events are held in memory only" });
  it.noteReport({ ...FRESH, data_age_ms: LIMIT + 1 }, 60);
  expect(at(60)).toMatchObject({ state: "stale", reason: "the leader's data is older than 15000 ms" });
});

test("[F4] a leader that is connected but silent is stale; one that is disconnected is down, at once if it was never connected", () => {
  const { it, at } = health();
  expect(at(1)).toMatchObject({
    state: "stale",
    reason: "the leader has not responded yet",
    observed_at: null,
  });
  it.noteDisconnected("the leader cannot be reached", 2);
  expect(at(3)).toMatchObject({ state: "down", last_success_at: null, data_age_ms: 3 });
  it.noteConnected();
  it.noteMessage(100);
  it.noteReport(FRESH, 100, 15_000);
  expect(at(100 + LIMIT + 15_000).state).toBe("live");
  expect(at(100 + LIMIT + 15_001)).toMatchObject({
    state: "stale",
    reason: "no message from the leader for more than 15000 ms",
  });
  it.noteMessage(40_000);
  it.noteReport(FRESH, 40_000);
  it.noteDisconnected("the leader dropped the connection", 41_000);
  it.noteDisconnected("the leader cannot be reached", 50_000);
  expect(at(41_000 + LIMIT).state).toBe("live");
  expect(at(41_001 + LIMIT)).toMatchObject({ state: "down", reason: "the leader cannot be reached" });
  it.noteConnected();
  expect(at(60_000).state).toBe("live");
});

test("[F4] data that was too old is fresh again with the next batch, not only with the next heartbeat", () => {
  const { it, at } = health();
  it.noteMessage(0);
  it.noteReport({ ...FRESH, data_age_ms: LIMIT + 5_000 }, 0, 15_000);
  expect(at(10).state).toBe("stale");
  it.noteMessage(20);
  it.noteBatch("2017-11-12T09:00:00.000Z", 20);
  expect(at(30)).toMatchObject({ state: "live", reason: "", data_age_ms: 10 });
});

test("[F4] the limits of age and of silence are inclusive, and a second disconnection counts from its own beginning", () => {
  const { it, at } = health();
  it.noteMessage(0);
  it.noteReport({ ...FRESH, data_age_ms: LIMIT }, 0, 15_000);
  expect(at(0)).toMatchObject({ state: "live", data_age_ms: LIMIT });
  it.noteReport({ ...FRESH, data_age_ms: LIMIT + 1 }, 0);
  expect(at(0).state).toBe("stale");
  for (const cutAt of [1_000, 100_000]) {
    it.noteMessage(cutAt);
    it.noteReport(FRESH, cutAt);
    it.noteDisconnected("the leader dropped the connection", cutAt);
    expect(at(cutAt + LIMIT).state).toBe("live");
    expect(at(cutAt + LIMIT + 1)).toMatchObject({ state: "down" });
    it.noteConnected();
  }
  // If a report has no heartbeat interval, the previous interval counts.
  expect(at(100_000 + LIMIT + 15_000).state).toBe("live");
  expect(at(100_000 + LIMIT + 15_001).state).toBe("stale");
});

test("[F4] each part's age grows by the time since the leader's report on it, which batches do not renew", () => {
  const { it, at } = health();
  const part = { name: "bsc", state: "live" as const, reason: "", observed_at: null, data_age_ms: 300 };
  it.noteReport({ ...FRESH, parts: [part] }, 1_000, 15_000);
  it.noteBatch("2017-11-12T09:00:00.000Z", 3_000);
  it.noteStatus("stale", "slow", 0);
  expect(at(5_000).parts).toEqual([{ ...part, data_age_ms: 4_300 }]);
  it.noteReport({ ...FRESH, parts: [part] }, 6_000);
  expect(at(6_500).parts).toEqual([{ ...part, data_age_ms: 800 }]);
  expect(at(6_500).state).toBe("live");
});

test("[F4] a leader that never reached its source has no last success, regardless of the age that it reports", () => {
  const { it, at } = health();
  it.noteReport({ ...FRESH, last_success_at: null, data_age_ms: 0 }, 1_000);
  expect(at(4_000)).toMatchObject({ last_success_at: null, data_age_ms: 4_000 });
});
