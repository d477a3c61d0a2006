import { expect, test } from "vitest";
import { type Channel, joinViews, projectSnapshot, type View } from "../../../src/base/protocol/index.ts";
import { websocketFraming } from "../../../src/gateway/hub/index.ts";
import { createHubUnderTest, EPOCH, settled } from "../../gateway/hub/hub-fixture.ts";
import { MockSocket } from "../../gateway/hub/mock-socket.ts";
import { EdgeUnderTest } from "./edge-under-test.ts";

const CHANNELS: Channel[] = ["flares.pro", "newest.bsc"];
const LIMIT = 8_192;

test("[W46] [F2] [F3] an edge gets its leader's lists whole, and sends them in parts to a client with a limit, which may come from the leader", async () => {
  const leader = createHubUnderTest();
  for (let at = 0; at < 90; at++) await leader.publish("list");
  const edge = new EdgeUnderTest();
  edge.connect(leader);
  await settled();
  const open = (query: object) => {
    const socket = new MockSocket();
    socket.session = edge.hub.connect(socket, websocketFraming, {
      ...{ channels: CHANNELS, max_message: LIMIT },
      ...query,
    });
    return socket;
  };
  const socket = open({});
  const parts = socket.of("part");
  expect(parts.length).toBeGreaterThan(2);
  expect(socket.of("subscribed")).toMatchObject([{ parts: parts.length, cursor: `${EPOCH}-90` }]);
  for (const bytes of socket.writes) expect(bytes.length).toBeLessThanOrEqual(LIMIT);
  const lists = joinViews([...parts, ...socket.of("subscribed")].map(({ snapshot }) => snapshot as View));
  expect(lists).toEqual(JSON.parse(JSON.stringify(projectSnapshot(leader.head.snapshot, CHANNELS))));
  await leader.publish("list");
  await settled();
  const moved = open({ after: `${EPOCH}-90` });
  await settled();
  expect(moved.messages.map(({ type }) => type)).toEqual(["hello", "subscribed", "event"]);
  const mirror = leader.open({ channels: ["*"], mirror: true, max_message: LIMIT });
  expect([mirror.of("part").length, mirror.of("subscribed")[0]?.parts]).toEqual([0, undefined]);
  expect([leader.errors, edge.errors]).toEqual([[], []]);
});
