import { expect, test } from "vitest";
import { encodeLists } from "../../../../src/gateway/persistence/restored-state.ts";
import { LogFollower } from "../../../../src/scale/cluster/node/log-follower.ts";
import type { LeaderBatch, ReplicaSink } from "../../../../src/scale/follow/index.ts";
import { createHubUnderTest, FRESH, INFO } from "../../../gateway/hub/hub-fixture.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";

const STALE_AFTER_MS = 15_000;

/** Creates a node that follows a leader's log, and records its publications. */
function createFollower() {
  const { head, hub, publish } = createHubUnderTest();
  const clock = new ManualClock();
  const published: LeaderBatch[] = [];
  let begun = 0;
  const follower = new LogFollower(clock, STALE_AFTER_MS, { info: INFO, freshness: FRESH });
  const sink: ReplicaSink = {
    position: undefined,
    begin: async () => {
      begun += 1;
    },
    publish: async (batch) => void published.push(batch),
  };
  const stop = new AbortController();
  const { cursor, observedAtMs } = head;
  const lists = encodeLists(hub.history.lists);
  const running = follower.run(sink, stop.signal);
  follower.apply({ type: "begin", cursor, positions: {}, observedAtMs, lists });
  head.onChange((records) => follower.apply({ type: "batch", records, observedAtMs: head.observedAtMs }));
  const end = () => {
    stop.abort();
    return running;
  };
  return { clock, follower, published, begun: () => begun, publish, end };
}

test("a node's data age counts from its last event or the leader's last report, whichever is more recent", async () => {
  const { clock, follower, publish, end } = createFollower();
  await publish("list");
  for (let round = 0; round < 2; round += 1) {
    clock.advance(STALE_AFTER_MS + 1);
    expect(follower.freshness()).toMatchObject({
      state: "live",
      data_age_ms: expect.toSatisfy((age) => age > STALE_AFTER_MS),
    });
    await publish("list");
    expect(follower.freshness().data_age_ms).toBe(0);
    clock.advance(300);
    expect(follower.freshness().data_age_ms).toBe(300);
    follower.report({ info: INFO, freshness: { ...FRESH, data_age_ms: 12 } });
    expect(follower.freshness().data_age_ms).toBe(12);
  }
  await end();
});

test("a node publishes the leader's events until it stops", async () => {
  const { publish, published, begun, end } = createFollower();
  await publish("list");
  expect([begun(), published.length]).toEqual([1, 1]);
  await end();
  await publish("refresh");
  expect(published.length).toBe(1);
});
