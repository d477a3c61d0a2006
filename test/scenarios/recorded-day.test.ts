import { expect, test } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { IndependentClient } from "../support/independent-client.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { expectOneState } from "../support/one-state.ts";

const NAMES = ["flare-started", "flare-updated", "flare-finished", "chart-updated", "leaderboard-updated"];

/** The shipped day on a free port; the whole of it takes 86,400 / speed seconds. */
function serveDay(settings: Parameters<typeof createConfig>[0]) {
  return startGateway(
    createConfig({ feed: "replay", port: 0, logLevel: "error", loop: false, drain: "1s", ...settings }),
  );
}

test("[L2] a client that reads the snapshot and applies events holds what REST serves, through reconnects; Bitcoin Cash's flare of 12 November 2017 arrives within minutes of its start", async ({
  onTestFinished,
}) => {
  // Uncompressed, which halves the test's time: other tests compare what is compressed.
  // Stale at its end only, not whenever a busy machine makes it wait.
  const pace = IS_SOAK
    ? ({ warmup: "0s", speed: 4_000 } as const)
    : ({ warmup: "8h", speed: 1_000 } as const);
  const market = { ...pace, staleAfter: "10m" } as const;
  const gateway = await serveDay({ ...market, compression: false });
  onTestFinished(() => gateway.stop());
  const client = new IndependentClient(gateway.url);
  await client.connect();
  let compared = 0;
  const missing = () => {
    const names = new Set(client.received.events.map((event) => event.name));
    return NAMES.filter((name) => !names.has(name));
  };
  // In the ninth hour a flare starts and ends; the soak plays the whole day.
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
  // How often it comes round to that depends on the machine: dozens of times on two cores, a few
  // where others work too.
  expect(compared).toBeGreaterThanOrEqual(2);
  expect(client.resets).toBe(1);
  expect(client.received.errors).toEqual([]);
  expect(missing()).toEqual([]);
  expectBurst(client);
});

test.runIf(IS_SOAK)(
  "Bitcoin Cash's flare of 12 November 2017 arrives within minutes of its start and says why",
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

/** The flare came in time, and says why. */
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
