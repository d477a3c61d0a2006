import { setInterval as every } from "node:timers/promises";
import { expect } from "vitest";
import type { ConnectionHandle } from "../http/stream/websocket-fixture.ts";
import { STEPS, type Step } from "../hub/test-market.ts";
import { shownLists } from "../support/expect/shown-lists.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { type Chance, createChance } from "../support/random/chance.ts";
import { ChaosProxy, type ProxyTally } from "../support/servers/chaos-proxy.ts";
import type { Company, Member, Report } from "./company.ts";

const TRANSPORTS = ["websocket", "sse", "poll", "auto", "auto", "auto", "auto", "auto"] as const;
/** The shortest time of bad weather. News arrives during it, at least `MIN_EVENTS` events. */
const BAD_MS = IS_SOAK ? 2_500 : 1_000;
const MIN_EVENTS = 200;
/** A connection may take long on a busy machine: with less, none would ever become live there. */
const FIRST_MESSAGE_MS = 80_000;
const MIN_CUT = 2;
/** Between two pieces of news. */
const TURN_MS = 12;

/** Room for connections that the gateway does not know to be dead. */
export const ROOM = { stream: { compression: true, limits: { maxSockets: 1_000, maxSocketsPerIp: 1_000 } } };

/** What came of it. */
interface Weathered {
  readonly reports: readonly Report[];
  readonly proxies: ProxyTally;
}

/**
 * Lets streams follow over ways that are cut, frozen and throttled, then in fair weather until all
 * are at the head; and sees to it that each holds then what REST serves. `start` starts them,
 * wherever they run, with this haste. At the end all connections are cut, and `missed` steps of
 * the market pass before the streams are back.
 */
export async function weather(
  wire: ConnectionHandle,
  seed: number,
  haste: number,
  start: (members: readonly Member[]) => Promise<Company>,
  missed = 0,
): Promise<Weathered> {
  // A way for each: what hinders one does not hinder another, and a browser has room for six
  // streams a port.
  const proxies = TRANSPORTS.map((_, at) => new ChaosProxy(wire.port, createChance(seed * 100 + at)));
  const urls = await Promise.all(proxies.map((proxy) => proxy.listen()));
  const company = await start(
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
      // On a busy machine the bad weather takes longer to bring all that it may.
      wasBad: () => total("cut") > MIN_CUT && total("frozen") > 0 && total("slowed") > 0,
      onFair: (seq) => {
        for (const proxy of proxies) proxy.calm();
        const over = () => {
          arrived = true;
        };
        reached = company.reach(seq);
        reached.then(over, over);
      },
    });
    await reached;
    if (missed > 0) {
      for (const proxy of proxies) proxy.cutAll();
      const steps = Array.from({ length: missed }, (_, at) => STEPS[at % STEPS.length] as Step);
      await wire.publish(...steps);
      // What is older than a moment may leave the log at the next step.
      wire.clock.advance(1);
      await wire.publish(...steps);
      await company.reach(wire.head.cursor.seq);
    }
    await company.note();
    for (const view of await company.viewsAt(wire.head.cursor.seq)) {
      expect(view).toEqual(shownLists(wire.head.snapshot));
    }
    return {
      reports: await company.report(),
      proxies: {
        connections: total("connections"),
        cut: total("cut"),
        frozen: total("frozen"),
        thawed: total("thawed"),
        slowed: total("slowed"),
      },
    };
  } finally {
    await company.close();
    for (const proxy of proxies) await proxy.close();
  }
}

/**
 * No hole, no repeat, no reset; and that there was what may bring them, for what is never reached
 * proves nothing.
 */
export function expectWhole({ reports, proxies }: Weathered): void {
  for (const { wrong, resets } of reports) expect([wrong, resets]).toEqual([[], ["started"]]);
  const used = reports.flatMap(({ lives }) => lives);
  expect(new Set(used)).toEqual(new Set(["websocket", "sse", "poll"]));
  expect(proxies.cut).toBeGreaterThan(MIN_CUT);
  expect(proxies.frozen).toBeGreaterThan(0);
  expect(proxies.slowed).toBeGreaterThan(0);
}

/**
 * News for a while, and the hub's time as fast as the streams'; `onFair` is told the last one's
 * seq, once the weather was bad.
 */
async function flow(
  wire: ConnectionHandle,
  chance: Chance,
  haste: number,
  {
    isOver,
    wasBad,
    onFair,
  }: {
    readonly isOver: () => boolean;
    readonly wasBad: () => boolean;
    readonly onFair: (seq: number) => void;
  },
): Promise<void> {
  const startMs = performance.now();
  let passedMs = 0;
  let isFair = false;
  for await (const _turn of every(TURN_MS)) {
    const elapsedMs = performance.now() - startMs;
    wire.clock.advance((elapsedMs - passedMs) * haste);
    passedMs = elapsedMs;
    const { seq } = wire.head.cursor;
    if (elapsedMs < BAD_MS || seq < MIN_EVENTS || !wasBad()) {
      const steps = Array.from({ length: chance.whole(1, 6) }, () => chance.pick(STEPS as [Step, ...Step[]]));
      await wire.publish(...steps);
    } else if (!isFair) {
      isFair = true;
      onFair(seq);
    }
    if (isOver()) return;
  }
}
