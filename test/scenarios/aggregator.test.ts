import { describe, expect, test, vi } from "vitest";
import { loadConfig } from "../../src/app/config/config.ts";
import { createLogger } from "../../src/app/server/create-logger.ts";
import type { Snapshot } from "../../src/base/model/index.ts";
import { fetchAccess } from "../../src/clients/dashboard/state/visitor/access.ts";
import type { ReadyResponse } from "../../src/gateway/http/rest/responses.ts";
import { startGateway } from "../../src/index.ts";
import { runInProcess } from "../app/cli/run-in-process.ts";
import { spawnCli } from "../app/cli/spawn-cli.ts";
import { StandInAggregator, type StandInPool } from "../feeds/aggregator/stand-in.ts";
import { checkedFetch } from "../support/expect/validate-response.ts";
import { newDirectory } from "../support/servers/edges.ts";
import { PacedClock } from "../support/time/paced-clock.ts";

/** Charts change at whole minutes only. */
const PACE = 20;
const PATIENCE = { timeout: 280_000, interval: 50 };
const token = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
const NOW = () => new Date(Date.now() - 60_000).toISOString();

/** A pump as an aggregator reports it. */
const PUMP: StandInPool = {
  ...{ token: token(1), symbol: "PUMP", coin: "pump-coin", price: "1.2", rose: ["20", "20", "20"] },
  ...{ m5: [60, 8, 55, 7, "6000"], h1: [84, 32, 70, 20, "6480"], h24: [640, 590, 300, 280, "17520"] },
};
const quiet = (n: number): StandInPool => ({ token: token(n), symbol: `Q${n}`, coin: `q${n}` });

const flagsOf = ({ url }: StandInAggregator) => [
  ...["--feed", "live", "--live", "aggregator", "--enrich", "none", "--geckoterminal-url", url],
];

describe("a live market that needs no endpoint of a chain", () => {
  test("serves flares, charts and listings from the aggregator's first answers, says so, and shows when it is cut off", async ({
    onTestFinished,
  }) => {
    await using standIn = await new StandInAggregator().listen();
    standIn.trending.set("bsc", [PUMP, ...[2, 3, 4, 5, 6, 7].map(quiet)]);
    standIn.newest.set("bsc", [{ token: token(9), symbol: "<b>NEW</b>", createdAt: NOW() }]);
    standIn.trending.set("avax", [{ ...quiet(20), m5: [4, 4, 4, 4, "80"] }]);
    const data = newDirectory(onTestFinished);
    const flags = [...flagsOf(standIn), "--port", "0", "--drain", "0", "--data", data];
    const lines: string[] = [];
    const logger = createLogger("info", { write: (line) => void lines.push(line) });
    const { config } = loadConfig({ args: flags });
    const clock = new PacedClock(PACE, Date.now());
    const gateway = await startGateway(config, { clock, logger });
    onTestFinished(() => gateway.stop());
    const { url } = gateway;
    const ready = async () => {
      const { status, json } = await checkedFetch(`${url}/readyz`);
      return { status, ready: json as ReadyResponse };
    };
    await vi.waitFor(async () => {
      const { flares, newest, charts } = (await checkedFetch(`${url}/api/v1/snapshot`)).json as Snapshot;
      expect(flares.pro.map(({ token }) => token.symbol)).toEqual(["PUMP"]);
      expect(flares.pro[0]).toMatchObject({ latest_buy_count: 60, liquidity: "80000.5" });
      expect(newest.bsc.map(({ token }) => token.symbol)).toEqual(["<b>NEW</b>"]);
      expect(charts.bsc.map(({ flare }) => flare.token.symbol)).toContain("PUMP");
      expect(charts.avalanche.map(({ token }) => token.symbol)).toEqual(["Q20"]);
    }, PATIENCE);
    // On a busy machine, one of the answers may be late.
    await expect.poll(ready).toMatchObject({
      status: 200,
      ready: {
        parts: [{ name: "aggregator", state: "live" }],
        lag: expect.arrayContaining([
          { stage: "seen", part: "aggregator", p50_ms: expect.any(Number), p99_ms: expect.any(Number) },
          { stage: "sent", p50_ms: expect.any(Number), p99_ms: expect.any(Number) },
        ]),
      },
    });
    const access = await fetchAccess(new URL(`${url}/`), undefined, new AbortController().signal);
    expect(access).toMatchObject({ origin: "live", parts: ["aggregator"] });
    const readMetrics = async () => (await fetch(`${url}/metrics`)).text();
    const up = 'flarewire_service_up{part="aggregator",service="geckoterminal"} 1';
    await expect.poll(readMetrics).toContain(up);
    const metrics = await readMetrics();
    for (const labels of ['stage="waited",part="aggregator"', 'stage="judged",part=""'])
      expect(metrics).toMatch(new RegExp(`^flarewire_head_lag_seconds_count{${labels}} [1-9]`, "m"));

    standIn.refusesFor = 60;
    await vi.waitFor(async () => {
      const { ready: seen } = await ready();
      expect(seen.parts?.[0]?.reason).toContain("429");
    }, PATIENCE);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join("")).not.toContain("<b>");
  });

  test("is named by serve, and tried by doctor, which names what the aggregator answers", async () => {
    await using standIn = await new StandInAggregator().listen();
    standIn.trending.set("bsc", [PUMP]);
    standIn.trending.set("polygon_pos", [quiet(2)]);
    await using server = spawnCli(["serve", ...flagsOf(standIn), "--port", "0", "--drain", "0"]);
    await server.said("stdout", "with the live markets of GeckoTerminal");
    const { code, stdout } = await runInProcess(["doctor", ...flagsOf(standIn)]);
    expect(stdout).toMatch(/geckoterminal.*bsc pools.*1 trending pools/);
    expect(stdout).toMatch(/geckoterminal.*avax pools.*lists no pool/);
    expect(code).toBe(75);
  });
});
