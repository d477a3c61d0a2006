import { expect } from "vitest";
import type { Wire } from "../http/websocket-fixture.ts";
import type { Step } from "../hub/test-market.ts";
import { STEPS } from "../hub/test-market.ts";
import { createChance } from "../support/chance.ts";
import { ChaosProxy } from "../support/chaos-proxy.ts";
import { HASTE, HASTY, range, test } from "./stream-kit.ts";

const FIRST = Number(process.env.SEED ?? 1);
const FLOW_MS = 2_500;
const TURN_MS = 5;
const LEAST_EVENTS = 200;

/** Events for a while, and the hub's time as fast as the SDK's, until `done`. */
async function flow(wire: Wire, chance: ReturnType<typeof createChance>, done: () => boolean): Promise<void> {
  const startMs = performance.now();
  let passedMs = 0;
  while (!done()) {
    const elapsedMs = performance.now() - startMs;
    wire.clock.advance((elapsedMs - passedMs) * HASTE);
    passedMs = elapsedMs;
    if (elapsedMs < FLOW_MS || wire.head.cursor.seq < LEAST_EVENTS) {
      const steps = Array.from({ length: chance.whole(1, 6) }, () => chance.pick(STEPS as [Step, ...Step[]]));
      await wire.publish(...steps);
    }
    await new Promise((resolve) => setTimeout(resolve, TURN_MS));
  }
}

for (const seed of [FIRST, FIRST + 1]) {
  test(`[L2] [L3] over lines that are cut, frozen and throttled, each stream comes to what REST serves, with no hole and no repeat (SEED=${seed})`, {
    timeout: 60_000,
  }, async ({ makeWire, start }) => {
    const wire = await makeWire({
      stream: { limits: { maxSockets: 1_000, maxSocketsPerIp: 1_000 } },
    });
    const chance = createChance(seed);
    const proxy = new ChaosProxy(wire.port, chance);
    const url = await proxy.listen();
    const transports = ["websocket", "sse", "poll", "auto", "auto", "auto", "auto", "auto"] as const;
    const all = transports.map((transport) =>
      start(url, {
        transport,
        platform: { ...HASTY, random: () => chance.whole(0, 999) / 1_000 },
        climbAfterMs: 10_000,
      }),
    );
    const used = new Set<string>();
    for (const { stream } of all)
      stream.on("connection", ({ state, transport }) => state === "live" && used.add(transport));
    const startMs = performance.now();
    const head = () => `${wire.head.cursor.epoch}-${wire.head.cursor.seq}`;
    await flow(wire, chance, () => {
      if (performance.now() - startMs < FLOW_MS || wire.head.cursor.seq < LEAST_EVENTS) return false;
      proxy.calm();
      return all.every(({ stream }) => stream.cursor === head());
    });
    await proxy.close();
    const expected = JSON.parse(JSON.stringify(wire.head.snapshot));
    for (const { stream, seqs, resets, items } of all) {
      expect(stream.view).toEqual(expected);
      // A stream whose first lines bring nothing begins late, and then has everything from there on.
      const [started] = items;
      const first = Number(started?.cursor.split("-")[1]) + 1;
      expect(seqs()).toEqual(range(first, wire.head.cursor.seq));
      expect(resets()).toEqual(["started"]);
    }
    // What is never reached proves nothing.
    expect(used).toEqual(new Set(["websocket", "sse", "poll"]));
    expect(proxy.tally.cut).toBeGreaterThan(2);
    expect(proxy.tally.frozen).toBeGreaterThan(0);
  });
}
