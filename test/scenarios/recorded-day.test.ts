import { expect, test, vi } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { IS_SOAK } from "../support/law-runs.ts";

const NAMES = ["flare-started", "flare-updated", "flare-finished", "chart-updated", "leaderboard-updated"];

/** Serves the included recording. A whole day takes 86,400 / speed seconds. */
function serveDay(settings: Parameters<typeof createConfig>[0]) {
  return startGateway(
    createConfig({ feed: "replay", port: 0, logLevel: "error", loop: false, drain: "1s", ...settings }),
  );
}

test("[L2] a client that applies events to its snapshot has the state that REST serves, over reconnects; Bitcoin Cash's flare of 12 November 2017 arrives within minutes of its start", async ({
  onTestFinished,
}) => {
  // Without compression, which would double the time and has its own tests. With a high
  // `staleAfter`, so that a busy machine does not make the source stale before its end.
  const pace = IS_SOAK
    ? ({ warmup: "0s", speed: 4_000 } as const)
    : ({ warmup: "8h", speed: 1_000 } as const);
  const market = { ...pace, staleAfter: "10m" } as const;
  const gateway = await serveDay({ ...market, compression: false });
  onTestFinished(() => gateway.stop());
  const client = new IndependentClient(gateway.url);
  // A busy machine may need longer for the first snapshot than a start waits.
  await vi.waitUntil(() => gateway.head.ready, { timeout: 280_000 });
  await client.connect();
  let compared = 0;
  const missing = () => {
    const names = new Set(client.received.events.map((event) => event.name));
    return NAMES.filter((name) => !names.has(name));
  };
  // In the ninth hour a flare starts and finishes. The soak plays the whole day.
  const isEnough = () =>
    !IS_SOAK && compared >= 2 && missing().length === 0 && client.received.events.some(isBurst);
  while (!isEnough() && (gateway.freshness().state === "live" || compared < 2)) {
    if (gateway.freshness().state === "stale") break;
    await expectOneState(gateway.url, client);
    compared += 1;
    const next = client.seq + 40;
    await client.until(() => client.seq >= next || gateway.freshness().state !== "live");
    if (compared % 2 === 0) {
      await client.disconnect();
      await client.connect();
      expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
    }
  }
  await expectOneState(gateway.url, client);
  // The number of comparisons depends on the machine: dozens on two idle cores, few on busy ones.
  expect(compared).toBeGreaterThanOrEqual(2);
  expect(client.resets).toBe(1);
  expect(client.received.errors).toEqual([]);
  expect(missing()).toEqual([]);
  expectBurst(client);
});

test.runIf(IS_SOAK)(
  "Bitcoin Cash's flare of 12 November 2017 arrives within minutes of its start, with its reasons",
  async ({ onTestFinished }) => {
    const gateway = await serveDay({ warmup: "490m", speed: 300 });
    onTestFinished(() => gateway.stop());
    const client = new IndependentClient(gateway.url);
    await client.connect();
    await client.until(() => client.received.events.some(isBurst));
    expectBurst(client);
  },
);

const isBurst = (event: Record<string, unknown>) =>
  event.name === "flare-started" &&
  event.channel === "flares.pro" &&
  String(event.observed_at) >= "2017-11-12T08:21:00.000Z" &&
  JSON.stringify(event.data).includes('"symbol":"BTC_BCC"');

/** Expects that the flare arrived in time, with its reasons. */
function expectBurst(client: IndependentClient): void {
  const event = client.received.events.find(isBurst) as {
    observed_at: string;
    data: Record<string, unknown>;
  };
  expect(event.observed_at <= "2017-11-12T08:35:00.000Z").toBe(true);
  const why = event.data.why as { score: number; threshold: number; terms: { name: string; z: number }[] };
  expect(why.score).toBeGreaterThan(why.threshold);
  expect(why.terms.map(({ name }) => name)).toEqual(expect.arrayContaining(["price", "volume"]));
}
