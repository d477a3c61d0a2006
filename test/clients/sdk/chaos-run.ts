import { setInterval as every } from "node:timers/promises";
import { expect } from "vitest";
import type { ConnectionHandle } from "../../gateway/http/stream/websocket-fixture.ts";
import { STEPS, type Step } from "../../gateway/hub/test-market.ts";
import { shownLists } from "../../support/expect/shown-lists.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { type Chance, createChance } from "../../support/random/chance.ts";
import { ChaosProxy, type ProxyTally } from "../../support/servers/chaos-proxy.ts";
import type { Member, Report, StreamGroup } from "./stream-group.ts";

const TRANSPORTS = ["websocket", "sse", "poll", "auto", "auto", "auto", "auto", "auto"] as const;
/** Minimum duration of the faults, in which at least `MIN_EVENTS` events are published. */
const MIN_CHAOS_MS = IS_SOAK ? 2_500 : 1_000;
const MIN_EVENTS = 200;
/** On a busy machine, no connection would become live within a shorter limit. */
const FIRST_MESSAGE_MS = 80_000;
const MIN_CUT = 2;
/** Interval between two batches of events. */
const TURN_MS = 12;

/** Limits high enough for dead connections that the gateway has not noticed yet. */
export const CHAOS_LIMITS = {
  stream: { compression: true, limits: { maxSockets: 1_000, maxSocketsPerIp: 1_000 } },
};

interface ChaosResult {
  readonly reports: readonly Report[];
  readonly proxies: ProxyTally;
}

/**
 * Runs streams over connections that are cut, frozen and throttled, then without faults until all
 * are at the head. Checks that each view then equals the server's lists. `start` starts the streams
 * in any environment, faster by `haste`. With `missed`, all connections are cut before the check,
 * and twice that many market steps are published before the streams are back.
 */
export async function runChaos(
  wire: ConnectionHandle,
  seed: number,
  haste: number,
  start: (members: readonly Member[]) => Promise<StreamGroup>,
  missed = 0,
): Promise<ChaosResult> {
  // Each stream has its own proxy, so that faults are independent and a browser, which allows six
  // streams per port, can run them all.
  const proxies = TRANSPORTS.map((_, at) => new ChaosProxy(wire.port, createChance(seed * 100 + at)));
  const urls = await Promise.all(proxies.map((proxy) => proxy.listen()));
  const group = await start(
    TRANSPORTS.map((transport, at) => ({
      url: urls[at] ?? "",
      options: { transport, upgradeAfterMs: 10_000, firstMessageMs: FIRST_MESSAGE_MS },
    })),
  );
  const total = (field: keyof ProxyTally) => proxies.reduce((sum, { tally }) => sum + tally[field], 0);
  try {
    let arrived = false;
    let reached: Promise<unknown> = Promise.resolve();
    await flow(wire, createChance(seed), haste, {
      isOver: () => arrived,
      // On a busy machine, it takes longer until each kind of fault has occurred.
      hadFaults: () => total("cut") > MIN_CUT && total("frozen") > 0 && total("slowed") > 0,
      onCalm: (seq) => {
        for (const proxy of proxies) proxy.calm();
        const over = () => {
          arrived = true;
        };
        reached = group.reach(seq);
        reached.then(over, over);
      },
    });
    await reached;
    if (missed > 0) {
      for (const proxy of proxies) proxy.cutAll();
      const steps = Array.from({ length: missed }, (_, at) => STEPS[at % STEPS.length] as Step);
      await wire.publish(...steps);
      // Lets the log drop older events at the next step.
      wire.clock.advance(1);
      await wire.publish(...steps);
      await group.reach(wire.head.cursor.seq);
    }
    await group.note();
    for (const view of await group.viewsAt(wire.head.cursor.seq)) {
      expect(view).toEqual(shownLists(wire.head.snapshot));
    }
    return {
      reports: await group.report(),
      proxies: {
        connections: total("connections"),
        cut: total("cut"),
        frozen: total("frozen"),
        thawed: total("thawed"),
        slowed: total("slowed"),
      },
    };
  } finally {
    await group.close();
    for (const proxy of proxies) await proxy.close();
  }
}

/**
 * Checks that no stream had a gap, a repeat or a second reset, and that each transport and each
 * kind of fault occurred, without which the check would prove nothing.
 */
export function expectNoLoss({ reports, proxies }: ChaosResult): void {
  for (const { wrong, resets } of reports) expect([wrong, resets]).toEqual([[], ["started"]]);
  const used = reports.flatMap(({ lives }) => lives);
  expect(new Set(used)).toEqual(new Set(["websocket", "sse", "poll"]));
  expect(proxies.cut).toBeGreaterThan(MIN_CUT);
  expect(proxies.frozen).toBeGreaterThan(0);
  expect(proxies.slowed).toBeGreaterThan(0);
}

/**
 * Publishes events for a while, and advances the hub's clock as fast as the streams'. Once enough
 * faults have occurred, stops publishing and calls `onCalm` with the last seq.
 */
async function flow(
  wire: ConnectionHandle,
  chance: Chance,
  haste: number,
  {
    isOver,
    hadFaults,
    onCalm,
  }: {
    readonly isOver: () => boolean;
    readonly hadFaults: () => boolean;
    readonly onCalm: (seq: number) => void;
  },
): Promise<void> {
  const startMs = performance.now();
  let passedMs = 0;
  let isCalm = false;
  for await (const _turn of every(TURN_MS)) {
    const elapsedMs = performance.now() - startMs;
    wire.clock.advance((elapsedMs - passedMs) * haste);
    passedMs = elapsedMs;
    const { seq } = wire.head.cursor;
    if (elapsedMs < MIN_CHAOS_MS || seq < MIN_EVENTS || !hadFaults()) {
      const steps = Array.from({ length: chance.whole(1, 6) }, () => chance.pick(STEPS as [Step, ...Step[]]));
      await wire.publish(...steps);
    } else if (!isCalm) {
      isCalm = true;
      onCalm(seq);
    }
    if (isOver()) return;
  }
}
