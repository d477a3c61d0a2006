import { createECDH, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pino from "pino";
import { test as base, expect } from "vitest";
import { PushAlerts } from "../../../src/extensions/alerts/push/push-alerts.ts";
import { openPushStore, type PushStore } from "../../../src/extensions/alerts/push/push-store.ts";
import { subscriptionId } from "../../../src/extensions/alerts/push/push-subscription.ts";
import { openVapidKey } from "../../../src/extensions/alerts/push/vapid-key.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { SAMPLE_FLARE } from "../../support/world/samples.ts";

const HOUR = 3_600_000;
const EVERY_FLARE = [{ channel: "flares.pro", filter: {} }];
const KEYS = { p256dh: pointOf(), auth: randomBytes(16).toString("base64url") };

function pointOf(): string {
  const key = createECDH("prime256v1");
  key.generateKeys();
  return key.getPublicKey().toString("base64url");
}

/** Push services of visitors, and the subscriptions at this server. */
class PushUnderTest implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly logged: (readonly [level: number, message: string])[] = [];
  /** The status that each path returns. Default: 201. Never: it does not answer. */
  readonly answers = new Map<string, number | "never">();
  store: PushStore;
  #push: PushAlerts | undefined;
  #alerts = 0;
  readonly #server = createServer((request, response) => {
    request.resume();
    const answer = this.answers.get(request.url ?? "") ?? 201;
    if (answer === "never") request.socket.destroy();
    else response.writeHead(answer).end();
  });

  readonly #path: string | undefined;

  constructor(path?: string) {
    this.#path = path;
    this.store = openPushStore(path);
  }

  async up(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    await this.restart(false);
  }

  async restart(isOpen = true): Promise<void> {
    if (isOpen) {
      this.#push?.close();
      this.store = openPushStore(this.#path);
    }
    const write = (line: string) => {
      const { level, msg } = JSON.parse(line);
      this.logged.push([level, msg]);
    };
    this.#push = new PushAlerts({
      store: this.store,
      clock: this.clock,
      isFree: false,
      allowPrivate: true,
      contact: "mailto:ops@example.org",
      key: await openVapidKey(undefined, () => expect.fail("nothing to repair")),
      isAdmitted: () => true,
      logger: pino({}, { write }),
    });
  }

  get push(): PushAlerts {
    if (!this.#push) throw new Error("call up() first");
    return this.#push;
  }

  /** Subscribes from an address. Returns the problem, if it is refused. */
  async subscribe(name: string, address: string, keys: object = KEYS): Promise<unknown> {
    return await this.push
      .subscribe({ endpoint: this.#endpoint(name), keys, rules: EVERY_FLARE }, address, undefined)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
  }

  has(name: string): boolean {
    return this.store.has(subscriptionId(this.#endpoint(name)));
  }

  /** Sends one alert to these subscriptions, once each. */
  async alert(...names: string[]): Promise<void> {
    this.#alerts += 1;
    const id = `3b241101-e2bb-5255-8caf-${String(this.#alerts).padStart(12, "0")}`;
    const emitted_at = new Date(this.clock.now()).toISOString();
    const flare = { ...SAMPLE_FLARE, id };
    const event = { name: "flare-started", emitted_at, observed_at: emitted_at, data: { flare } };
    const body = JSON.stringify({ type: "flare-started", data: { event } });
    const wanted = new Set(names.map((name) => subscriptionId(this.#endpoint(name))));
    const { signal } = new AbortController();
    for (const target of this.push.targets)
      if (wanted.has(target.id))
        await target.deliver({ id, target: target.id, madeAtMs: this.clock.now(), body }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#push?.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #endpoint(name: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`;
  }
}

const test = base.extend<{ open: (path?: string) => Promise<PushUnderTest> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  open: async ({}, use) => {
    await using all = new AsyncDisposableStack();
    await use(async (path) => {
      const sut = all.use(new PushUnderTest(path));
      await sut.up();
      return sut;
    });
  },
});

/** Fills the store from 100 addresses. */
async function fill(sut: PushUnderTest, name = "worthless"): Promise<void> {
  for (let at = 0; at < 1_000; at += 1)
    expect(await sut.subscribe(`${name}${at}`, `198.51.100.${at % 100}`)).toBeUndefined();
}

const OVER_CAPACITY = { code: "over-capacity" };

test("a visitor can subscribe although 1,000 worthless subscriptions fill the store: the one that has failed longest makes room, and the log says it once", async ({
  open,
}) => {
  const sut = await open();
  expect(await sut.subscribe("working", "192.0.2.1")).toBeUndefined();
  await sut.alert("working");
  for (let at = 0; at < 999; at += 1) await sut.subscribe(`worthless${at}`, `198.51.100.${at % 100}`);
  for (const at of [7, 3, 500]) {
    sut.answers.set(`/worthless${at}`, at === 3 ? "never" : 403);
    await sut.alert(`worthless${at}`);
    sut.clock.jumpWall(1_000);
  }
  expect(await sut.subscribe("visitor0", "192.0.2.10")).toBeUndefined();
  expect([7, 3, 500].map((at) => sut.has(`worthless${at}`))).toEqual([false, true, true]);
  for (let at = 1; at < 100; at += 1)
    expect(await sut.subscribe(`visitor${at}`, `192.0.2.${10 + at}`)).toBeUndefined();
  expect([3, 500].map((at) => sut.has(`worthless${at}`))).toEqual([false, false]);
  expect(sut.store.count("").all).toBe(1_000);
  expect(sut.has("working")).toBe(true);
  expect(sut.logged.filter(([, message]) => message.includes("no room"))).toHaveLength(1);
  expect(sut.logged).toHaveLength(1);
});

test("a subscription that works is never replaced, and one that worked only after it has failed for an hour", async ({
  open,
}) => {
  const sut = await open();
  await fill(sut, "working");
  for (const { request } of sut.store.all())
    sut.store.note(subscriptionId(request.endpoint), { isProven: true, failingSinceMs: undefined });
  sut.clock.jumpWall(48 * HOUR);
  expect(await sut.subscribe("visitor", "192.0.2.1")).toMatchObject(OVER_CAPACITY);
  sut.answers.set("/working5", 503);
  await sut.alert("working5");
  sut.clock.jumpWall(HOUR - 1);
  expect(await sut.subscribe("visitor", "192.0.2.1")).toMatchObject(OVER_CAPACITY);
  sut.clock.jumpWall(1);
  sut.answers.delete("/working5");
  await sut.alert("working5");
  expect(await sut.subscribe("visitor", "192.0.2.1")).toMatchObject(OVER_CAPACITY);
  sut.answers.set("/working5", 503);
  await sut.alert("working5");
  sut.clock.jumpWall(HOUR);
  expect(await sut.subscribe("visitor", "192.0.2.1")).toBeUndefined();
  expect([sut.has("working5"), sut.has("working4")]).toEqual([false, true]);
});

test("an address at its own limit replaces only its own subscriptions, and one with many none of those with fewer", async ({
  open,
}) => {
  const sut = await open();
  await sut.subscribe("other", "192.0.2.9");
  for (let at = 0; at < 10; at += 1) await sut.subscribe(`own${at}`, "192.0.2.1");
  for (const name of ["other", "own4"]) {
    sut.answers.set(`/${name}`, 403);
    await sut.alert(name);
    sut.clock.jumpWall(1_000);
  }
  expect(await sut.subscribe("new", "192.0.2.1")).toBeUndefined();
  expect(["other", "own4", "own5"].map((name) => sut.has(name))).toEqual([true, false, true]);
  expect(await sut.subscribe("newer", "192.0.2.1")).toMatchObject(OVER_CAPACITY);
  // Those that never got a message have a day.
  sut.clock.jumpWall(24 * HOUR);
  expect(await sut.subscribe("newer", "192.0.2.1")).toBeUndefined();
  expect(["other", "own0", "own1"].map((name) => sut.has(name))).toEqual([true, false, true]);
});

test.for(["403", "503", "never"])(
  "a subscription whose service answers %s for a day, and never accepted a message, is removed, also across a restart; one that worked stays",
  async (answer, { open, onTestFinished: finish }) => {
    const sut = await open(join(newDirectory(finish), "push.sqlite"));
    for (const [at, name] of ["never-worked", "worked"].entries()) await sut.subscribe(name, `192.0.2.${at}`);
    await sut.alert("worked");
    const names = ["never-worked", "worked"];
    for (const name of names) sut.answers.set(`/${name}`, answer === "never" ? answer : Number(answer));
    await sut.alert(...names);
    sut.clock.jumpWall(24 * HOUR - 1);
    await sut.restart();
    await sut.alert(...names);
    expect(names.map((name) => sut.has(name))).toEqual([true, true]);
    sut.clock.jumpWall(1);
    await sut.alert(...names);
    expect(names.map((name) => sut.has(name))).toEqual([false, true]);
    expect(sut.logged).toEqual([[30, "removing a push subscription"]]);
  },
);

test("a key that is not a point on P-256 is refused with the field and the reason, also a hybrid point", async ({
  open,
}) => {
  const sut = await open();
  const point = Buffer.from(KEYS.p256dh, "base64url");
  const hybrid = Buffer.from(point);
  hybrid[0] = 6 + ((point.at(-1) ?? 0) & 1);
  const off = Buffer.from(point);
  off[64] = (off[64] ?? 0) ^ 1;
  for (const bytes of [Buffer.alloc(65), Buffer.alloc(65, 4), randomBytes(65), off, hybrid]) {
    const keys = { ...KEYS, p256dh: bytes.toString("base64url") };
    expect(await sut.subscribe("visitor", "192.0.2.1", keys)).toMatchObject({
      code: "invalid-parameter",
      message: "keys.p256dh must be a point on the curve P-256, uncompressed",
      field: "keys",
    });
  }
  expect(sut.store.count("").all).toBe(0);
  expect(await sut.subscribe("visitor", "192.0.2.1")).toBeUndefined();
});

test("a file of an earlier version is read: its subscriptions count as proven, and those with a useless key end", async ({
  open,
  onTestFinished: finish,
}) => {
  const path = join(newDirectory(finish), "push.sqlite");
  const db = new DatabaseSync(path);
  db.exec(`CREATE TABLE subscription (id TEXT PRIMARY KEY, client TEXT NOT NULL, request TEXT NOT NULL, holder TEXT) STRICT;
    CREATE INDEX by_client ON subscription (client);
    PRAGMA user_version = 2; PRAGMA application_id = ${0x464c5750}`);
  const add = db.prepare("INSERT INTO subscription VALUES (?, 'mark', ?, NULL)");
  for (const [name, p256dh] of [
    ["good", KEYS.p256dh] as const,
    ["bad", Buffer.alloc(65, 4).toString("base64url")] as const,
  ]) {
    const request = {
      endpoint: `https://push.example/${name}`,
      keys: { ...KEYS, p256dh },
      rules: EVERY_FLARE,
    };
    add.run(subscriptionId(request.endpoint), JSON.stringify(request));
  }
  db.close();
  const sut = await open(path);
  expect(sut.store.all().map(({ request }) => request.endpoint)).toEqual(["https://push.example/good"]);
  expect(sut.logged).toEqual([[30, "removing a push subscription"]]);
  const id = subscriptionId("https://push.example/good");
  expect(sut.store.health(id)).toEqual({ isProven: true, failingSinceMs: undefined });
  const wanted = { client: "mark", ofClient: 1, isOwn: true, failingBeforeMs: 0 };
  expect(sut.store.replaceable({ ...wanted, unprovenBeforeMs: Date.now() + 1_000 })).toBeUndefined();
});
