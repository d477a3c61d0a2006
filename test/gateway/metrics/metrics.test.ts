import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createMetricsServer, MAX_METRICS_CONNECTIONS } from "../../../src/gateway/http/metrics-route.ts";
import { formatKeys, mintSecret } from "../../../src/gateway/keys/index.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { clusterMetrics } from "../../../src/scale/cluster/cluster-metrics.ts";
import { startLedGateway } from "../../examples/led-gateway.ts";
import { webhookFile } from "../../extensions/alerts/webhook-fixture.ts";
import { IndependentClient } from "../../support/clients/independent-client.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { freePort } from "../../support/servers/free-port.ts";

const QUIET = { port: 0, logLevel: "silent", drain: "0" } as const;

/** Returns the value of each series, by `name{label="value"}`. */
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

test("an edge reports its upstream's data age, source state and 304 responses", async ({
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

test("open files, garbage collections, and the log's durability and write time are measured", async ({
  onTestFinished,
}) => {
  await using market = await startLedGateway();
  const data = newDirectory(onTestFinished);
  const gateway = await startGateway(
    createConfig({ ...QUIET, source: market.url, pollInterval: "100ms", data }),
  );
  onTestFinished(() => gateway.stop());
  const written = () =>
    scrape(gateway.url).then((seen) => seen.get("flarewire_log_write_duration_seconds_count"));
  market.start("ONE");
  await expect.poll(written).toBeGreaterThan(0);
  const seen = await scrape(gateway.url);
  expect(seen.get("flarewire_log_durable")).toBe(1);
  expect(seen.get("flarewire_log_write_duration_seconds_sum")).toBeGreaterThan(0);
  expect(seen.get("flarewire_log_write_duration_seconds_sum")).toBeLessThan(60);
  expect(seen.get("process_open_fds")).toBeGreaterThan(10);
  expect(seen.get("process_max_fds")).toBeGreaterThan(seen.get("process_open_fds") ?? 0);
  expect(seen.get('nodejs_gc_seconds_total{kind="minor"}')).toBeGreaterThanOrEqual(0);
  expect(seen.get('flarewire_http_responses_total{route="/metrics",status="200"}')).toBeGreaterThan(0);
  expect((await scrape(market.url)).get("flarewire_log_durable")).toBe(0);
});

test("each key's requests, rate-limited requests and connections are counted, and each plan's keys", async ({
  onTestFinished,
}) => {
  await using market = await startLedGateway();
  const { text, id, digest } = mintSecret("fw");
  const key = { id, plan: "pro", sha256: digest.toString("hex"), requests_per_minute: 2 } as const;
  const keys = join(newDirectory(onTestFinished), "keys.json");
  writeFileSync(keys, formatKeys([key]), { mode: 0o600 });
  const gateway = await startGateway(createConfig({ ...QUIET, source: market.url, keys }));
  onTestFinished(() => gateway.stop());
  const headers = { authorization: `Bearer ${text}` };
  const over = new AbortController();
  const stream = await fetch(`${gateway.url}/api/v1/events`, {
    headers: { ...headers, accept: "text/event-stream" },
    signal: over.signal,
  });
  expect(stream.status).toBe(200);
  const statuses = [];
  for (let count = 0; count < 2; count += 1) {
    const response = await fetch(`${gateway.url}/api/v1/flares`, { headers });
    await response.arrayBuffer();
    statuses.push(response.status);
  }
  expect(statuses).toEqual([200, 429]);
  const seen = await scrape(gateway.url);
  expect(seen.get(`flarewire_key_requests_total{key="${key.id}"}`)).toBe(2);
  expect(seen.get(`flarewire_key_limited_total{key="${key.id}"}`)).toBe(1);
  expect(seen.get(`flarewire_key_connections{key="${key.id}"}`)).toBe(1);
  expect([seen.get('flarewire_keys{plan="pro"}'), seen.get('flarewire_keys{plan="free"}')]).toEqual([1, 0]);
  over.abort();
  const open = async () => (await scrape(gateway.url)).get(`flarewire_key_connections{key="${key.id}"}`);
  await expect.poll(open).toBeUndefined();
});

test("a gateway with metrics disabled responds to /metrics with 404", async ({ onTestFinished }) => {
  await using market = await startLedGateway();
  const gateway = await startGateway(createConfig({ ...QUIET, source: market.url, metrics: "false" }));
  onTestFinished(() => gateway.stop());
  expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
});

test("metrics on their own port are not on the public one, reject other host names, and leave no port open after a failed start", async ({
  onTestFinished,
}) => {
  await using market = await startLedGateway();
  const port = await freePort();
  const options = { ...QUIET, source: market.url, metricsPort: port };
  const gateway = await startGateway(createConfig(options));
  onTestFinished(() => gateway.stop());
  const url = gateway.metricsUrl ?? "";
  expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
  expect((await scrape(url.replace("/metrics", ""))).get("flarewire_head_seq")).toBeGreaterThanOrEqual(0);
  const elsewhere = await fetch(new URL("/api/v1/flares", url));
  expect([elsewhere.status, elsewhere.headers.get("content-type")]).toEqual([
    404,
    "application/problem+json",
  ]);
  const [rebound] = await once(
    request({ port, path: "/metrics", headers: { host: "evil.example" } }).end(),
    "response",
  );
  expect(rebound.resume().statusCode).toBe(421);
  expect(
    (await scrape(url.replace("/metrics", ""))).get('flarewire_refusals_total{reason="host-refused"}'),
  ).toBe(1);
  const taken = startGateway(createConfig(options));
  await expect(taken).rejects.toThrow(`metricsPort = ${port} is already in use on 127.0.0.1`);
  await gateway.stop();
  await expect(fetch(url)).rejects.toThrow("fetch failed");
  const other = createConfig({ ...options, port: Number(new URL(market.url).port) });
  await expect(startGateway(other)).rejects.toThrow(/^port = \d+ is already in use/);
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});

test("a connection to the metrics port beyond the limit is closed, and a request has ten seconds", async ({
  onTestFinished,
}) => {
  const app = createMetricsServer(
    { host: "127.0.0.1", allowedHosts: [] },
    { text: () => "" },
    { countError: () => {} },
  );
  onTestFinished(() => app.close());
  const port = Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port);
  const open = async () => {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  for (let count = 0; count < MAX_METRICS_CONNECTIONS; count += 1) await open();
  await once((await open()).resume(), "close");
  expect(app.server.requestTimeout).toBe(10_000);
});

test("every series on the dashboard is served, and every served series is on the dashboard", async ({
  onTestFinished,
}) => {
  const path = new URL("../../../examples/grafana-dashboard.json", import.meta.url);
  const { panels } = JSON.parse(readFileSync(path, "utf8"));
  const shown = new Set<string>(
    JSON.stringify(panels).match(/\b(?:flarewire|process|nodejs)_[a-z_]+(?=\{|\b)/g),
  );
  await using market = await startLedGateway();
  const edge = await startGateway(createConfig({ ...QUIET, source: market.url }));
  const alerts = join(newDirectory(onTestFinished), "alerts.json");
  writeFileSync(alerts, webhookFile({ url: "http://127.0.0.1:9/" }));
  const keys = join(newDirectory(onTestFinished), "keys.json");
  writeFileSync(keys, '{"keys": []}');
  const data = newDirectory(onTestFinished);
  const engine = await startGateway(
    createConfig({ ...QUIET, feed: "replay", warmup: "0s", alerts, keys, data }),
  );
  onTestFinished(async () => {
    await edge.stop();
    await engine.stop();
  });
  const texts = await Promise.all(
    [edge, engine].map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
  );
  const types = texts.join("\n").matchAll(/^# TYPE (\S+) (\S+)$/gm);
  const served = [...types].map(([, name, type]) => (type === "histogram" ? `${name}_bucket` : (name ?? "")));
  const cluster = clusterMetrics(() => ({
    ...{ isLeading: true, term: 1, entries: 1, silenceMs: 0, repairs: 0, epochs: 1 },
    ...{ isForked: false, isRejected: false },
  }));
  expect([...shown].sort()).toEqual([...new Set([...served, ...Object.keys(cluster)])].sort());
});
