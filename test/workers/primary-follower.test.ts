import { expect, test } from "vitest";
import { decodeLists, encodeLists } from "../../src/gateway/persistence/restored-state.ts";
import type { LeaderBatch, ReplicaSink } from "../../src/gateway/source/index.ts";
import { PrimaryFollower } from "../../src/workers/index.ts";
import type { LogUpdate } from "../../src/workers/messages.ts";
import { LogPublisher } from "../../src/workers/primary/log-publisher.ts";
import { createHubUnderTest, FRESH, INFO } from "../gateway/hub/hub-fixture.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { linked } from "./linked.ts";

const STALE_AFTER_MS = 15_000;

/** Creates a worker that follows a primary, and records its publications. */
function createFollower() {
  const primary = createHubUnderTest({ ready: false });
  const { link, say } = linked();
  const clock = new ManualClock();
  const published: LeaderBatch[] = [];
  const begun: number[] = [];
  const leader = new PrimaryFollower({
    ...{ link, clock, staleAfterMs: STALE_AFTER_MS, report: { info: INFO, freshness: FRESH } },
    decode: (bytes) => decodeLists({ bytes }),
    onBegun: () => begun.push(clock.monotonic()),
  });
  const mirror: ReplicaSink = {
    position: undefined,
    begin: async () => {},
    publish: async (batch) => void published.push(batch),
  };
  const stop = new AbortController();
  const feed = new LogPublisher({ ...primary, history: primary.hub.history, encode: encodeLists });
  feed.follow((message: LogUpdate) => say(message));
  const run = () => leader.run(mirror, stop.signal);
  return { ...primary, clock, leader, published, begun, stop, run };
}

test("a worker's data age counts from its last event or the primary's last report, whichever is more recent", async () => {
  const { clock, leader, publish, run, stop } = createFollower();
  const running = run();
  await publish("list");
  for (let round = 0; round < 2; round += 1) {
    clock.advance(STALE_AFTER_MS + 1);
    expect(leader.freshness()).toMatchObject({
      state: "live",
      data_age_ms: expect.toSatisfy((age) => age > STALE_AFTER_MS),
    });
    await publish("list");
    expect(leader.freshness().data_age_ms).toBe(0);
    clock.advance(300);
    expect(leader.freshness().data_age_ms).toBe(300);
    leader.update({ info: INFO, freshness: { ...FRESH, data_age_ms: 12 } });
    expect(leader.freshness().data_age_ms).toBe(12);
  }
  stop.abort();
  await running;
});

test("a worker publishes the primary's events until it stops", async () => {
  const { publish, published, run, stop, begun } = createFollower();
  const running = run();
  await publish("list");
  await publish("refresh");
  expect([begun.length, published.length]).toEqual([1, 1]);
  stop.abort();
  await running;
  await publish("list");
  expect(published.length).toBe(1);
});
