import { expect } from "vitest";
import { test } from "../hub-fixture.ts";

/** Returns the mean, and a function that counts the delays up to a bound. */
function measure(delays: readonly number[]) {
  const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
  return { mean, upTo: (bound: number) => delays.filter((delay) => delay <= bound).length };
}

test("the recorded delays from emitted_at match those that 200 sockets in two groups observed", async ({
  sut,
}) => {
  const delays: number[] = [];
  const open = (channels: readonly string[]) => {
    const socket = sut.open({ channels });
    // Each write takes a millisecond.
    socket.onMessage = ({ type, emitted_at }) => {
      if (type !== "event") return;
      delays.push(sut.clock.now() - Date.parse(String(emitted_at)));
      sut.clock.jumpWall(1);
    };
  };
  for (let count = 0; count < 150; count++) open(["*"]);
  for (let count = 0; count < 50; count++) open(["newest.bsc"]);
  for (let batch = 0; batch < 3; batch++) await sut.publish("list");
  const { bounds, counts, sum } = sut.hub.counters.delays.seconds;
  expect(delays).toHaveLength(600);
  expect(counts.at(-1)).toBe(600);
  const outside = measure(delays);
  expect(Math.abs((sum * 1_000) / 600 / outside.mean - 1)).toBeLessThan(0.02);
  for (const [at, bound] of bounds.entries())
    expect(Math.abs((counts[at] ?? 0) - outside.upTo(bound * 1_000))).toBeLessThanOrEqual(6);
});

test("events sent to a client that catches up are not recorded as delays", async ({ sut }) => {
  await sut.publish("list");
  sut.clock.jumpWall(3_600_000);
  const socket = sut.open({ channels: ["*"], after: `${sut.log.epoch}-0` });
  await expect.poll(() => socket.of("event")).toHaveLength(1);
  expect(sut.hub.counters.delays.seconds.counts.at(-1)).toBe(0);
});

test("the delay of an event from the future counts as 0", async ({ sut }) => {
  sut.open({ channels: ["*"] });
  sut.hub.counters.delays.add(-5, -1, 2);
  expect(sut.hub.counters.delays.seconds).toMatchObject({ counts: expect.arrayContaining([2]), sum: 0 });
});
