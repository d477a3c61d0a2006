import { expect, test } from "vitest";
import { encodeLists } from "../../src/gateway/persistence/restored-state.ts";
import type { LogUpdate } from "../../src/workers/messages.ts";
import { LogPublisher } from "../../src/workers/primary/log-publisher.ts";
import { createHubUnderTest } from "../hub/hub-fixture.ts";

/** A log that workers follow, before its first snapshot. */
function followed() {
  const sut = createHubUnderTest({ ready: false });
  const feed = new LogPublisher({ ...sut, history: sut.hub.history, format: encodeLists });
  const follow = () => {
    const heard: LogUpdate["type"][] = [];
    const { stop } = feed.follow(({ type }) => heard.push(type));
    return { heard, stop };
  };
  return { ...sut, feed, follow };
}

test("workers get the complete lists once, with the first snapshot, and then only events", async () => {
  const { publish, follow } = followed();
  const { heard } = follow();
  await publish("list");
  await publish("refresh");
  await publish("list");
  expect(heard).toEqual(["begin", "batch", "batch"]);
});

test("a worker that is gone gets no more events, and the others get each one", async () => {
  const { publish, feed, follow } = followed();
  const [gone, other] = [follow(), follow()];
  await publish("list");
  gone.stop();
  await publish("list");
  expect([gone.heard, other.heard]).toEqual([["begin"], ["begin", "batch"]]);
  feed.close();
  await publish("list");
  expect(other.heard).toEqual(["begin", "batch"]);
});
