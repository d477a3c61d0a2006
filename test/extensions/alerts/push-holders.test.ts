import dns from "node:dns";
import { Resolver } from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pino from "pino";
import { expect, test, vi } from "vitest";
import { MINUTE_MS } from "../../../src/base/lib/time/time.ts";
import { PushAlerts } from "../../../src/extensions/alerts/push/push-alerts.ts";
import { pushMessageOf } from "../../../src/extensions/alerts/push/push-message.ts";
import { openPushStore } from "../../../src/extensions/alerts/push/push-store.ts";
import { openVapidKey } from "../../../src/extensions/alerts/push/vapid-key.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { PushService } from "../../support/servers/push-service.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { SAMPLE_FLARE } from "../../support/world/samples.ts";

const EVERY_FLARE = [{ channel: "flares.pro", filter: {} }];

test("a subscription whose key has become invalid gets no more messages, and is removed within a minute", async () => {
  await using service = new PushService();
  await service.up();
  const clock = new ManualClock();
  const store = openPushStore(undefined);
  // The verdict on each holder. The holder of a visitor without a key is undefined.
  const verdicts = new Map<string | undefined, boolean | undefined>([
    ["key", true],
    ["token", true],
    [undefined, true],
  ]);
  const push = new PushAlerts({
    store,
    clock,
    isFree: true,
    allowPrivate: true,
    contact: "mailto:ops@example.org",
    key: await openVapidKey(undefined, () => expect.fail("nothing to repair")),
    isAdmitted: (holder) => verdicts.get(holder),
    logger: pino({ level: "silent" }),
  });
  for (const holder of verdicts.keys()) {
    const body = { ...(await service.subscription(holder ?? "visitor")), rules: EVERY_FLARE };
    await push.subscribe(body, "192.0.2.1", holder);
  }
  const event = {
    name: "flare-started",
    emitted_at: new Date(clock.now()).toISOString(),
    data: { flare: SAMPLE_FLARE },
  };
  const alert = { id: "msg_1", target: "", madeAtMs: clock.now(), body: JSON.stringify({ data: { event } }) };
  const { targets } = push;
  const deliver = () =>
    Promise.all(
      targets.map(async (target) => (await target.deliver(alert, new AbortController().signal)).kind),
    );
  const holders = () => store.all().map(({ holder }) => holder);
  verdicts.set("key", false).set("token", undefined);
  // While the verdict on a token is unknown, its messages wait.
  expect(await deliver()).toEqual(["delivered", "failed", "delivered"]);
  expect(service.received.map(({ path }) => path)).toEqual(["/visitor"]);
  clock.advance(MINUTE_MS);
  expect(holders()).toEqual(["token", undefined]);
  verdicts.set("token", true);
  expect(await deliver()).toEqual(["delivered", "delivered", "delivered"]);
  expect(service.received.map(({ path }) => path)).toEqual(["/visitor", "/token"]);
  verdicts.set(undefined, false);
  clock.advance(MINUTE_MS);
  expect(holders()).toEqual(["token"]);
  push.close();
});

test("a name that a visitor chose is resolved without the system's lookup, which two slow names would block for all", async ({
  onTestFinished,
}) => {
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  await using service = new PushService();
  await service.up();
  const lookup = vi.spyOn(dns, "lookup").mockImplementation((() => {}) as unknown as typeof dns.lookup);
  vi.spyOn(Resolver.prototype, "resolve4").mockResolvedValue(["93.184.215.14", "127.0.0.1"]);
  vi.spyOn(Resolver.prototype, "resolve6").mockRejectedValue(new Error("no IPv6"));
  syncBuiltinESMExports();
  const clock = new ManualClock();
  const store = openPushStore(undefined);
  const push = new PushAlerts({
    store,
    clock,
    isFree: true,
    allowPrivate: false,
    contact: "mailto:ops@example.org",
    key: await openVapidKey(undefined, () => expect.fail("nothing to repair")),
    isAdmitted: () => true,
    logger: pino({ level: "silent" }),
  });
  const { keys } = await service.subscription("visitor");
  const body = { endpoint: "https://push.example/x", keys, rules: EVERY_FLARE };
  await push.subscribe(body, "192.0.2.1", undefined);
  const event = {
    name: "flare-started",
    emitted_at: new Date(clock.now()).toISOString(),
    data: { flare: SAMPLE_FLARE },
  };
  const alert = { id: "msg_1", target: "", madeAtMs: 0, body: JSON.stringify({ data: { event } }) };
  const outcome = await push.targets[0]?.deliver(alert, new AbortController().signal);
  expect(outcome).toMatchObject({
    kind: "failed",
    reason: expect.stringContaining("push.example resolves to 127.0.0.1, which is not a public address"),
  });
  expect(lookup).not.toHaveBeenCalled();
  push.close();
});

test("a stored subscription that cannot be read is logged once by name, and does not affect others", async ({
  onTestFinished: finish,
}) => {
  await using service = new PushService();
  await service.up();
  const file = join(newDirectory(finish), "push.sqlite");
  const first = openPushStore(file);
  for (const name of ["bad", "odd", "good"]) {
    const request = {
      ...(await service.subscription(name)),
      rules: [{ channel: "flares.pro" as const, filter: {} }],
    };
    first.save(name, "client", { request, holder: undefined }, 0);
  }
  first.close();
  const db = new DatabaseSync(file);
  db.exec("UPDATE subscription SET request = '{' WHERE id = 'bad'");
  db.exec("UPDATE subscription SET request = '{}' WHERE id = 'odd'");
  db.close();
  const named: unknown[] = [];
  const store = openPushStore(file, (_level, _message, facts) => named.push(facts?.target));
  finish(() => store.close());
  const paths = () => store.all().map(({ request }) => new URL(request.endpoint).pathname);
  expect([paths(), paths(), named]).toEqual([["/good"], ["/good"], ["bad", "odd"]]);
});

test("a subscription with a rule that can never apply stays readable, and does not affect others", async () => {
  await using service = new PushService();
  await service.up();
  const store = openPushStore();
  const channel = "flares.exchange.pro" as const;
  for (const [name, filter] of Object.entries({ idle: { min_liquidity: 5 }, good: {} }))
    store.save(
      name,
      "client",
      { request: { ...(await service.subscription(name)), rules: [{ channel, filter }] }, holder: undefined },
      0,
    );
  const push = new PushAlerts({
    store,
    clock: new ManualClock(),
    isFree: false,
    allowPrivate: true,
    contact: "mailto:ops@example.org",
    key: await openVapidKey(undefined, () => expect.fail("nothing to repair")),
    isAdmitted: (_holder, channels) => channels.includes(channel),
    logger: pino({ level: "silent" }),
  });
  const filters = push.targets.flatMap(({ rules }) => rules.map(({ filter }) => filter));
  const names = ["flare-started", "flare-surged"];
  expect(filters).toEqual([{ min_liquidity: 5, names }, { names }]);
  push.close();
});

test("a push that is sent late says when its event was, and one in time does not", () => {
  const at = "2026-11-29T12:03:00.000Z";
  const data = { flare: SAMPLE_FLARE, why: { text: "12 buys in a minute" }, cause: "detected" };
  const event = { name: "flare-started", emitted_at: at, observed_at: at, data };
  const alert = { body: JSON.stringify({ data: { event } }) };
  const bodyOf = (lateAtMs?: number) => JSON.parse(pushMessageOf(alert, lateAtMs)?.payload ?? "{}").body;
  expect(bodyOf()).toBe("12 buys in a minute");
  expect(bodyOf(Date.parse(at) + 10 * MINUTE_MS)).toBe("at 12:03 UTC, sent late; 12 buys in a minute");
});
