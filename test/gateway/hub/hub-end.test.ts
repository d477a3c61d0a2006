import { expect, vi } from "vitest";
import { test } from "../../support/time/still-running.ts";
import { createHubUnderTest, EPOCH, FRESH, settled } from "./hub-fixture.ts";
import type { MockSocket } from "./mock-socket.ts";

/*
 * Tests what the hub leaves behind. The fixture fails a test that leaves a timer or a listener.
 */

test("a hub that has drained and is closed leaves no timer", async () => {
  const sut = createHubUnderTest();
  const sockets = Array.from({ length: 3 }, () => sut.open({ channels: ["*"] }));
  const drained = sut.hub.drain(1_000);
  sut.clock.advance(1_000);
  for (const socket of sockets) socket.end();
  sut.clock.advance(50);
  await drained;
  await sut.hub.close();
  expect([sut.hub.size, sut.errors]).toEqual([0, []]);
});

test("an ended connection is no longer checked, whatever its state was", async () => {
  const sut = createHubUnderTest({ hub: { limits: { aheadWaitMs: 60_000 } } });
  await sut.publish("list");
  const states: readonly (readonly [string, MockSocket])[] = [
    ["unsubscribed", sut.open()],
    ["early", sut.open({ channels: ["*"], after: `${EPOCH}-9` })],
    ["behind", sut.open({ channels: ["*"] })],
    ["closing", sut.open({ channels: ["*"] })],
  ];
  const [, behind, closing] = states.slice(1).map(([, socket]) => socket);
  if (behind) behind.highWater = 1;
  behind?.freeze();
  await sut.publish("list");
  closing?.session?.oversize();
  for (const [state, socket] of states) {
    const { session } = socket;
    if (!session) throw new Error("there is no session");
    const check = vi.spyOn(session, "check");
    sut.clock.advance(1_000);
    expect(check, state).toHaveBeenCalled();
    socket.end();
    check.mockClear();
    sut.clock.advance(3_000);
    expect(check, state).not.toHaveBeenCalled();
  }
  await sut.hub.close();
});

test("a group whose clients have left prepares no more heartbeats", async () => {
  let reads = 0;
  const freshness = () => {
    reads += 1;
    return FRESH;
  };
  const sut = createHubUnderTest({ hub: { freshness, heartbeatMs: 1_000 } });
  const open = () => [
    sut.open({ channels: ["status"] }),
    sut.open({ channels: ["newest.*"] }),
    sut.open({ channels: ["*"], filter: { min_liquidity: 5 } }),
  ];
  const readsIn = (seconds: number) => {
    reads = 0;
    sut.clock.advance(seconds * 1_000);
    return reads;
  };
  for (let round = 0; round < 2; round += 1) {
    const sockets = open();
    await settled();
    expect(readsIn(4)).toBe(4 * sockets.length);
    for (const socket of sockets) socket.end();
    expect(readsIn(4)).toBe(0);
  }
  await sut.hub.close();
});

test("[W16] after the process was suspended, one heartbeat is sent for all that were missed", async () => {
  const sut = createHubUnderTest();
  let suspendedMs = 0;
  const { clock } = sut;
  const monotonic = clock.monotonic.bind(clock);
  clock.monotonic = () => monotonic() + suspendedMs;
  const socket = sut.open({ channels: ["status"] });
  suspendedMs = 100_000;
  // Later heartbeats stay on schedule: at 105 s and 120 s.
  for (const [passMs, sent] of [
    [4_000, 1],
    [1_000, 2],
    [14_000, 2],
    [1_000, 3],
  ] as const) {
    clock.advance(passMs);
    expect(socket.of("heartbeat")).toHaveLength(sent);
  }
  socket.end();
  await sut.hub.close();
});
