import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { EXTENSIONS } from "../../../src/app/extensions.ts";
import type { ExchangeFlare, Flare, Snapshot } from "../../../src/base/model/index.ts";
import { openPushStore } from "../../../src/extensions/alerts/index.ts";
import { formatKeys } from "../../../src/gateway/keys/key-file.ts";
import { mintSecret } from "../../../src/gateway/keys/secret.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { makeKeys } from "../../browser/open-dashboard.ts";
import { ToldMarket } from "../../browser/told-market.ts";
import { type Finish, newDirectory } from "../../support/servers/edges.ts";
import { withLocalPush } from "../../support/servers/local-push.ts";
import { PushService } from "../../support/servers/push-service.ts";
import {
  SAMPLE_EXCHANGE_FLARE,
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_SNAPSHOT,
} from "../../support/world/samples.ts";

const flareOf = (symbol: string, at: number): Flare => ({
  ...SAMPLE_FLARE,
  id: `3b241101-e2bb-5255-8caf-00000000000${at}`,
  token: { ...SAMPLE_FLARE.token, symbol },
});
const CAKE = flareOf("CAKE", 1);
const MOON = flareOf("MOON", 2);
const marketOf = (pro: Flare[], free: Flare[] = []): Snapshot => ({
  ...SAMPLE_SNAPSHOT,
  flares: { pro, free, finished_trending: [] },
  explanations: Object.fromEntries(pro.map(({ id }) => [id, SAMPLE_EXPLANATION])),
  "flares.exchange": { pro: [], free: [], finished_trending: [] },
});
const EVERY_FLARE = [{ channel: "flares.pro", filter: {} }];

interface Started {
  readonly source: ToldMarket;
  readonly ask: (method: string, body?: unknown, key?: string) => Promise<Response>;
  readonly metrics: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** A gateway with web push, and a market without flares. */
async function start(finish: Finish, settings: object, isLocalPush = true): Promise<Started> {
  const source = new ToldMarket(marketOf([]));
  const given = { port: 0, drain: "0", logLevel: "silent", push: "mailto:ops@example.org", ...settings };
  const gateway = await startGateway(createConfig(given), {
    source,
    extensions: isLocalPush ? withLocalPush() : EXTENSIONS,
  });
  finish(() => gateway.stop());
  const ask = (method: string, body?: unknown, key?: string) =>
    fetch(`${gateway.url}/push`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const metrics = async () => (await fetch(`${gateway.url}/metrics`)).text();
  return { source, ask, metrics, stop: () => gateway.stop() };
}

test("a subscription with many rules is accepted, and a body above its own limit is not", async ({
  onTestFinished: finish,
}) => {
  await using service = new PushService();
  await service.up();
  const { ask } = await start(finish, { data: "none" });
  const rules = Array.from({ length: 40 }, (_, index) => ({
    channel: "flares.pro",
    filter: { min_liquidity: index + 1, symbols: ["A".repeat(20), "B".repeat(20)] },
  }));
  const subscription = await service.subscription();
  const size = JSON.stringify({ ...subscription, rules }).length;
  expect(size).toBeGreaterThan(4_000);
  expect((await ask("PUT", { ...subscription, rules })).status).toBe(204);
  const refused = await ask("PUT", { ...subscription, rules, more: "x".repeat(70_000) });
  expect([refused.status, Object(await refused.json()).type]).toEqual([
    413,
    expect.stringContaining("content-too-large"),
  ]);
});

test("a flare and its surge are pushed once to its subscriber, encrypted and with a TTL of half an hour, also after a restart", async ({
  onTestFinished: finish,
}) => {
  await using service = new PushService();
  await service.up();
  const data = newDirectory(finish);
  const first = await start(finish, { data });
  const { public_key } = Object(await (await first.ask("GET")).json());
  const rules = [...EVERY_FLARE, { channel: "flares.pro", filter: { min_liquidity: 1 } }];
  expect((await first.ask("PUT", { ...(await service.subscription()), rules })).status).toBe(204);
  first.source.show(marketOf([CAKE]));
  await service.until(() => service.received.length > 0);
  const [pushed] = service.received;
  expect(pushed?.payload).toEqual({
    title: "CAKE is flaring",
    body: SAMPLE_EXPLANATION.text,
    tag: `start ${CAKE.id}`,
    path: `#/token/bsc/${CAKE.token.address}`,
  });
  expect(pushed?.headers).toMatchObject({
    urgency: "high",
    topic: /^[\w-]{32}$/.exec(`${pushed?.headers.topic}`)?.[0],
  });
  expect(Number(pushed?.headers.ttl)).toBeGreaterThan(1_700);
  expect(Number(pushed?.headers.ttl)).toBeLessThanOrEqual(1_800);
  expect(pushed?.headers.authorization).toContain(`, k=${public_key}`);
  await first.stop();
  for (const file of readdirSync(data).filter((name) => name.startsWith("push-")))
    expect([file, statSync(join(data, file)).mode & 0o777]).toEqual([file, 0o600]);
  const second = await start(finish, { data });
  expect(await (await second.ask("GET")).json()).toEqual({ public_key });
  second.source.show(marketOf([CAKE, MOON]));
  await service.until(() =>
    service.received.some(({ payload }) => Object(payload).tag === `start ${MOON.id}`),
  );
  const surge = { number: 1, at: MOON.started_trending_at, price: "0.3", score: 6.5 };
  const why = { ...SAMPLE_EXPLANATION, surge };
  second.source.show({ ...marketOf([CAKE, MOON]), explanations: { [MOON.id]: why } });
  await service.until(() =>
    service.received.some(({ payload }) => Object(payload).tag === `surge 1 ${MOON.id}`),
  );
  expect(service.received.at(-1)?.payload).toMatchObject({ title: "MOON surges again", body: why.text });
  const tags = service.received.map(({ payload }) => Object(payload).tag);
  expect(tags.filter((tag) => tag === `start ${MOON.id}`).length).toBe(1);
});

test("a subscription that the push service reports as gone, or that its page deletes, receives no more pushes", async ({
  onTestFinished: finish,
}) => {
  await using service = new PushService();
  await service.up();
  const { source, ask, metrics } = await start(finish, { data: "none" });
  const [gone, ended, last] = await Promise.all(
    ["gone", "ended", "last"].map((name) => service.subscription(name)),
  );
  await ask("PUT", { ...gone, rules: EVERY_FLARE });
  service.status = 410;
  source.show(marketOf([CAKE]));
  await service.until(() => service.received.length === 1);
  service.status = 201;
  await ask("PUT", { ...ended, rules: EVERY_FLARE });
  expect((await ask("DELETE", { endpoint: ended?.endpoint })).status).toBe(204);
  await ask("PUT", { ...last, rules: EVERY_FLARE });
  source.show(marketOf([CAKE, MOON]));
  await service.until(() => service.received.length === 2);
  expect(service.received.map(({ path }) => path)).toEqual(["/gone", "/last"]);
  // Totals include deleted subscriptions.
  const counted = (outcome: string) =>
    `flarewire_webhook_attempts_total{webhook="push",outcome="${outcome}"} 1`;
  await expect.poll(metrics).toContain(counted("delivered"));
  expect(await metrics()).toContain(counted("gone"));
});

test("subscriptions that could attack others or fill the server are rejected, and responses do not repeat secrets", async ({
  onTestFinished: finish,
}) => {
  await using service = new PushService();
  await service.up();
  const { keys } = await service.subscription();
  const strict = await start(finish, { data: "none" }, false);
  for (const endpoint of [
    "http://push.example/secret",
    "https://127.0.0.1/secret",
    "https://[::ffff:169.254.169.254]/secret",
    "https://user:secret@push.example/",
    "file:///secret",
  ]) {
    const answer = await strict.ask("PUT", { endpoint, keys, rules: EVERY_FLARE });
    const { field, detail } = Object(await answer.json());
    expect([answer.status, field, detail.includes("secret")]).toEqual([400, "endpoint", false]);
  }
  const endpoint = "https://push.example/a";
  for (const body of [
    { endpoint, keys, rules: [] },
    { endpoint, keys: { ...keys, auth: "c2hvcnQ" }, rules: EVERY_FLARE },
    { endpoint, keys, rules: [{ channel: "charts.bsc", filter: {} }] },
    { endpoint, keys, rules: EVERY_FLARE, more: 1 },
    undefined,
  ])
    expect((await strict.ask("PUT", body)).status).toBe(400);
  const zero = Buffer.alloc(65).toString("base64url");
  const answer = await strict.ask("PUT", { endpoint, keys: { ...keys, p256dh: zero }, rules: EVERY_FLARE });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { field: "keys", detail: "keys.p256dh must be a point on the curve P-256, uncompressed" },
  ]);
  const statuses: number[] = [];
  for (let at = 0; at < 11; at++)
    statuses.push(
      (await strict.ask("PUT", { endpoint: `${endpoint}${at}`, keys, rules: EVERY_FLARE })).status,
    );
  expect(statuses).toEqual([...Array(10).fill(204), 503]);
  expect((await strict.ask("PUT", { endpoint: `${endpoint}0`, keys, rules: EVERY_FLARE })).status).toBe(204);
});

test("[K1] on a server with keys, a subscription without one gets the flares of visitors; without the setting, push is off", async ({
  onTestFinished: finish,
}) => {
  await using service = new PushService();
  await service.up();
  const { source, ask } = await start(finish, { data: "none", keys: makeKeys(finish).keys });
  const rules = [...EVERY_FLARE, { channel: "flares.exchange.pro", filter: {} }];
  await ask("PUT", { ...(await service.subscription()), rules });
  const ether = { ...SAMPLE_EXCHANGE_FLARE, id: CAKE.id.replace("3b", "4b"), pair: "ETH/USDT" };
  const exchangeOf = (free: ExchangeFlare[]) => ({
    "flares.exchange": { pro: [ether, SAMPLE_EXCHANGE_FLARE], free, finished_trending: [] },
  });
  source.show({ ...marketOf([CAKE]), ...exchangeOf([]) });
  source.show({ ...marketOf([CAKE, MOON], [MOON]), ...exchangeOf([SAMPLE_EXCHANGE_FLARE]) });
  await service.until(() => service.received.length > 1);
  expect(service.received.map(({ payload }) => Object(payload).title).sort()).toEqual([
    "BTC/USDT on binance is flaring",
    "MOON is flaring",
  ]);
  const without = await start(finish, { data: "none", push: undefined });
  expect(await (await without.ask("GET")).json()).toEqual({ public_key: null });
  expect((await without.ask("DELETE", { endpoint: "https://push.example/a" })).status).toBe(404);
});

test("[K6] after a restart, subscriptions end whose key was removed, or that have no key where visitors need one", async ({
  onTestFinished: finish,
}) => {
  await using service = new PushService();
  await service.up();
  const data = newDirectory(finish);
  const [own, other] = [makeKeys(finish), makeKeys(finish)];
  const subscribe = async ({ ask }: Started, name: string, key?: string) =>
    ask("PUT", { ...(await service.subscription(name)), rules: EVERY_FLARE }, key);
  const first = await start(finish, { data, keys: own.keys });
  for (const [name, key] of [["held", own.key], ["visitor"]] as const)
    expect((await subscribe(first, name, key)).status).toBe(204);
  await first.stop();
  const file = join(data, readdirSync(data).find((name) => /^push-.*sqlite$/.test(name)) ?? "");
  const endpoints = () => {
    const store = openPushStore(file);
    const found = store.all().map(({ request }) => new URL(request.endpoint).pathname);
    store.close();
    return found;
  };
  const second = await start(finish, { data, keys: own.keys, anonymous: "off" });
  second.source.show(marketOf([CAKE], [CAKE]));
  await service.until(() => service.received.length > 0);
  expect(service.received.map(({ path }) => path)).toEqual(["/held"]);
  await second.stop();
  expect(endpoints()).toEqual(["/held"]);
  const rewrite = (statements: string) => {
    const db = new DatabaseSync(file);
    const later = ["holder", "made_at_ms", "is_proven", "failing_since_ms"];
    const drops = later.map((column) => `ALTER TABLE subscription DROP COLUMN ${column}`);
    db.exec([statements, ...drops, "PRAGMA user_version = 1"].join("; "));
    db.close();
  };
  // As a version without holders stored it.
  rewrite("");
  await (await start(finish, { data, keys: own.keys })).stop();
  expect(endpoints()).toEqual(["/held"]);
  const third = await start(finish, { data, keys: own.keys });
  await subscribe(third, "held", own.key);
  await third.stop();
  // As a version with a table of holders stored it.
  rewrite("CREATE TABLE holder AS SELECT id, holder FROM subscription WHERE holder IS NOT NULL");
  await (await start(finish, { data, keys: other.keys })).stop();
  expect(endpoints()).toEqual([]);
});

test("[K10] a key limited to channels subscribes to flares of these channels, and gets 403 for others", async ({
  onTestFinished: finish,
}) => {
  await using service = new PushService();
  await service.up();
  const keys = join(newDirectory(finish), "keys.json");
  const limits = [
    ["flares.*"],
    ["flares.*", "charts.bsc"],
    ["charts.bsc"],
    ["flares.finished"],
    ["flares.*", "flares.exchange.*"],
  ];
  const made = limits.map((channels) => ({ channels, ...mintSecret("fw") }));
  const entries = made.map(({ id, digest, channels }) => ({
    id,
    sha256: digest.toString("hex"),
    plan: "pro" as const,
    channels,
  }));
  writeFileSync(keys, formatKeys(entries));
  const { ask } = await start(finish, { data: "none", keys });
  const body = { ...(await service.subscription()), rules: EVERY_FLARE };
  const statuses: number[] = [];
  for (const { text } of made) statuses.push((await ask("PUT", body, text)).status);
  expect(statuses).toEqual([204, 204, 403, 403, 204]);
  const exchange = { ...body, rules: [{ channel: "flares.exchange.pro", filter: {} }] };
  expect((await ask("PUT", exchange, made[0]?.text)).status).toBe(403);
  expect((await ask("PUT", exchange, made[4]?.text)).status).toBe(204);
});
