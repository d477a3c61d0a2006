import { expect, test } from "vitest";
import { encodeLists } from "../../src/gateway/persistence/restored-state.ts";
import type { LogUpdate } from "../../src/workers/messages.ts";
import { LogPublisher } from "../../src/workers/primary/log-publisher.ts";
import { createHubUnderTest } from "../gateway/hub/hub-fixture.ts";

/** Creates a log that workers follow, before its first snapshot. */
function createFollowedLog() {
  const sut = createHubUnderTest({ ready: false });
  const feed = new LogPublisher({ ...sut, history: sut.hub.history, encode: encodeLists });
  const follow = () => {
    const received: LogUpdate["type"][] = [];
    const { stop } = feed.follow(({ type }) => received.push(type));
    return { received, stop };
  };
  return { ...sut, feed, follow };
}

test("workers get the complete lists once, with the first snapshot, and then only events", async () => {
  const { publish, follow } = createFollowedLog();
  const { received } = follow();
  await publish("list");
  await publish("refresh");
  await publish("list");
  expect(received).toEqual(["begin", "batch", "batch"]);
});

test("a worker that has stopped gets no more events, and the others get each one", async () => {
  const { publish, feed, follow } = createFollowedLog();
  const [gone, other] = [follow(), follow()];
  await publish("list");
  gone.stop();
  await publish("list");
  expect([gone.received, other.received]).toEqual([["begin"], ["begin", "batch"]]);
  feed.close();
  await publish("list");
  expect(other.received).toEqual(["begin", "batch"]);
});
