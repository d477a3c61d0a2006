import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { clusterMetrics } from "../../src/metrics/cluster-metrics.ts";
import { SECRET } from "../alerts/webhook-fixture.ts";
import { startLedGateway } from "../examples/led-gateway.ts";
import { newDirectory } from "../support/edges.ts";
import { IndependentClient } from "../support/independent-client.ts";

const QUIET = { port: 0, logLevel: "silent", drain: "0" } as const;

/** The value of each series: `name{label="value"}`. */
async function scrape(url: string): Promise<Map<string, number>> {
  const response = await fetch(`${url}/metrics`);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(response.headers.get("cache-control")).toBe("no-store");
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

test("connections, events, deliveries and resumes match what clients saw", async () => {
  await using market = await startLedGateway();
  const client = new IndependentClient(market.url);
  await client.connect();
  market.start("ONE");
  await client.until(() => client.received.events.length > 0);
  const { cursor } = client;
  market.cut();
  await client.until(() => client.closeCode !== undefined);
  market.start("TWO");
  await client.connect();
  await client.until(() => client.received.events.some((event) => JSON.stringify(event).includes("TWO")));
  const stranger = new IndependentClient(market.url);
  stranger.cursor = cursor?.replace(/^[^-]+/, "stranger");
  await stranger.connect();
  const seen = await scrape(market.url);
  expect(seen.get('flarewire_connections{transport="websocket"}')).toBe(2);
  expect(seen.get('flarewire_connections_opened_total{transport="websocket"}')).toBe(3);
  expect(seen.get('flarewire_connections_closed_total{reason="client"}')).toBe(1);
  expect(seen.get('flarewire_resumes_total{verdict="full"}')).toBe(1);
  expect(seen.get('flarewire_resumes_total{verdict="reset"}')).toBe(1);
  expect(seen.get('flarewire_resets_total{reason="epoch-changed"}')).toBe(1);
  expect(seen.get("flarewire_deliveries_total")).toBe(client.received.events.length);
  expect(seen.get("flarewire_head_seq")).toBe(client.seq);
  const appended = [...seen].filter(([name]) => name.startsWith("flarewire_events_total{"));
  expect(appended.reduce((sum, [, count]) => sum + count, 0)).toBe(client.seq);
  expect(seen.get('flarewire_flares{list="pro"}')).toBe(2);
  expect(seen.get('flarewire_poll_duration_seconds_count{outcome="published"}')).toBeGreaterThanOrEqual(3);
  expect(seen.get("flarewire_lag_events")).toBe(0);
});

test("data age, source state and 304 responses are those of the polled upstream", async ({
  onTestFinished,
}) => {
  await using market = await startLedGateway();
  const edge = await startGateway(createConfig({ ...QUIET, source: market.url, pollInterval: "100ms" }));
  onTestFinished(() => edge.stop());
  await expect
    .poll(async () => (await scrape(edge.url)).get("flarewire_upstream_not_modified_total"))
    .toBeGreaterThan(0);
  const seen = await scrape(edge.url);
  expect(seen.get('flarewire_source_state{state="live"}')).toBe(1);
  expect(seen.get('flarewire_source_state{state="down"}')).toBe(0);
  expect(seen.get("flarewire_data_age_seconds")).toBeGreaterThanOrEqual(0);
  expect(seen.get('flarewire_upstream_polls_total{outcome="succeeded"}')).toBeGreaterThan(0);
});

test("a gateway without metrics has no such address", async ({ onTestFinished }) => {
  await using market = await startLedGateway();
  const gateway = await startGateway(createConfig({ ...QUIET, source: market.url, metrics: "false" }));
  onTestFinished(() => gateway.stop());
  expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
});

test("every series on the dashboard is served, and every served series is on the dashboard", async ({
  onTestFinished,
}) => {
  const path = new URL("../../examples/grafana-dashboard.json", import.meta.url);
  const { panels } = JSON.parse(readFileSync(path, "utf8"));
  const shown = new Set<string>(
    JSON.stringify(panels).match(/\b(?:flarewire|process|nodejs)_[a-z_]+(?=\{|\b)/g),
  );
  await using market = await startLedGateway();
  const edge = await startGateway(createConfig({ ...QUIET, source: market.url }));
  const alerts = join(newDirectory(onTestFinished), "alerts.json");
  const webhook = { id: "desk", url: "http://127.0.0.1:9/", secret: SECRET, rules: [{ name: "all" }] };
  writeFileSync(alerts, JSON.stringify({ webhooks: [webhook] }));
  const keys = join(newDirectory(onTestFinished), "keys.json");
  writeFileSync(keys, '{"keys": []}');
  const engine = await startGateway(createConfig({ ...QUIET, feed: "replay", warmup: "0s", alerts, keys }));
  onTestFinished(async () => {
    await edge.stop();
    await engine.stop();
  });
  const texts = await Promise.all(
    [edge, engine].map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
  );
  const types = texts.join("\n").matchAll(/^# TYPE (\S+) (\S+)$/gm);
  const served = [...types].map(([, name, type]) => (type === "histogram" ? `${name}_bucket` : (name ?? "")));
  const cluster = clusterMetrics({
    cluster: () => ({
      ...{ isLeading: true, term: 1, entries: 1, silenceMs: 0, repairs: 0, epochs: 1, isForked: false },
    }),
  });
  expect([...shown].sort()).toEqual([...new Set([...served, ...Object.keys(cluster)])].sort());
});
