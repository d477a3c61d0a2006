import { expect, test } from "vitest";
import { formatCursor, toEpoch, toRun } from "../../../src/base/protocol/index.ts";
import { websocketFraming } from "../../../src/gateway/hub/index.ts";
import { createHubUnderTest, EPOCH, type HubUnderTest, settled } from "../../gateway/hub/hub-fixture.ts";
import { MockSocket } from "../../gateway/hub/mock-socket.ts";
import { EdgeUnderTest } from "./edge-under-test.ts";

/**
 * Creates a leader with three batches of an epoch. Only the first batch is the same for all of
 * them.
 */
async function leaderOf(run: string, life: "list" | "flare"): Promise<HubUnderTest> {
  const first = createHubUnderTest();
  await first.publish("list");
  const result = await first.log.read(first.log.oldest, 1);
  const records = result.kind === "records" ? result.records : [];
  const kept = { records, positions: first.log.positions, oldest: 0, oldestLasting: 0 };
  const leader = createHubUnderTest({
    log: { epoch: toEpoch(EPOCH), run: toRun(run), stored: kept },
    ready: false,
  });
  leader.market.poll(["list"]);
  await leader.publish();
  await leader.publish(life, life);
  await leader.publish(life);
  return leader;
}

/** Returns the messages that a client with this cursor gets. */
async function resumeAt(edge: EdgeUnderTest, after: string) {
  const socket = new MockSocket();
  socket.session = edge.hub.connect(socket, websocketFraming, { channels: ["*"], after });
  for (let turn = 0; turn < 20; turn += 1) await settled();
  socket.session.closed();
  const answer = socket.of("subscribed")[0];
  const events = socket.of("event").map(({ cursor, name }) => `${cursor} ${name}`);
  return { resumed: answer?.resumed, lost: answer?.lost, events };
}

test("[F3] [F5] [W39] a mirror whose leader was rolled back repeatedly sends no event of a discarded run to any client", async () => {
  const edge = new EdgeUnderTest();
  const gone: string[] = [];
  for (const [run, life] of [
    ["one", "list"],
    ["two", "flare"],
    ["three", "list"],
  ] as const) {
    const leader = await leaderOf(run, life);
    edge.connect(leader);
    for (let turn = 0; turn < 20; turn += 1) await settled();
    await leader.publish(life, life);
    await settled();
    expect(edge.head.cursor).toEqual(leader.head.cursor);
    expect(formatCursor(edge.head.cursor)).toBe(`${EPOCH}-6-${run}`);
    const name = life === "list" ? "token-listed" : "flare-started";
    const events = [5, 6].map((seq) => `${EPOCH}-${seq}-${run} ${name}`);
    expect(await resumeAt(edge, `${EPOCH}-4-${run}`)).toEqual({ resumed: "full", lost: undefined, events });
    for (const cursor of gone)
      expect(await resumeAt(edge, cursor)).toMatchObject({
        resumed: "reset",
        lost: { reason: "epoch-changed" },
      });
    gone.push(`${EPOCH}-4-${run}`, `${EPOCH}-6-${run}`);
    await edge.cut();
  }
  expect(edge.begun).toBe(3);
  expect(edge.errors).toEqual([]);
});
