import { expect } from "vitest";
import { type PingTarget, WebSocketPings } from "../../../../src/gateway/http/stream/websocket-pings.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { test } from "../../../support/time/still-running.ts";

const [PERIOD_S, PATIENCE_S] = [25, 10];

/** A connection that answers pings, or does not. */
class TargetUnderTest implements PingTarget {
  pingSecond = 0;
  awaitsPong = false;
  pings = 0;
  losses = 0;
  answers: boolean;

  constructor(answers: boolean) {
    this.answers = answers;
  }

  ping(): void {
    this.pings += 1;
    if (this.answers) queueMicrotask(() => Object.assign(this, { awaitsPong: false }));
  }

  lost(): void {
    this.losses += 1;
  }
}

/** Advances the clock by this many seconds, with time for answers after each. */
async function pass(clock: ManualClock, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("[W24] each second pings a share of the connections, and each connection is pinged once in 25 seconds", async () => {
  const clock = new ManualClock();
  const pings = new WebSocketPings(clock);
  const targets = Array.from({ length: 4 * PERIOD_S }, () => new TargetUnderTest(true));
  for (const target of targets) pings.add(target);
  const sent = () => targets.reduce((sum, target) => sum + target.pings, 0);
  for (let second = 1; second <= 2 * PERIOD_S; second += 1) {
    await pass(clock, 1);
    expect(sent()).toBe(4 * second);
  }
  expect(new Set(targets.map((target) => target.pings))).toEqual(new Set([2]));
  expect(targets.every(({ losses }) => losses === 0)).toBe(true);
  pings.stop();
});

test("[W24] a connection without a pong for ten seconds is lost, one that answers is not, and a removed one is not pinged", async () => {
  const clock = new ManualClock();
  const pings = new WebSocketPings(clock);
  const [silent, healthy, gone] = [false, true, false].map((answers) => new TargetUnderTest(answers));
  if (!silent || !healthy || !gone) throw new Error("three connections");
  for (const target of [silent, healthy, gone]) pings.add(target);
  for (let second = 0; second < PERIOD_S && silent.pings === 0; second += 1) {
    await pass(clock, 1);
    if (gone.pings === 1) pings.remove(gone);
  }
  await pass(clock, PATIENCE_S - 1);
  expect(silent.losses).toBe(0);
  await pass(clock, 1);
  expect([silent.losses, healthy.losses, gone.losses]).toEqual([1, 0, 0]);
  Object.assign(silent, { answers: true, awaitsPong: false });
  await pass(clock, 2 * PERIOD_S);
  expect([silent.losses, silent.pings, gone.pings]).toEqual([1, 3, 1]);
  pings.stop();
});
