import pino from "pino";
import { expect, test } from "vitest";
import { PushAlerts } from "../../src/alerts/push/push-alerts.ts";
import { openPushStore } from "../../src/alerts/push/push-store.ts";
import { openVapidKey } from "../../src/alerts/push/vapid-key.ts";
import { MINUTE_MS } from "../../src/lib/time/time.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { PushService } from "../support/push-service.ts";
import { SAMPLE_FLARE } from "../support/samples.ts";

const EVERY_FLARE = [{ channel: "flares.pro", filter: {} }];

test("a subscription whose key ended gets nothing more at once, and is removed within a minute", async () => {
  await using service = new PushService();
  await service.up();
  const clock = new ManualClock();
  const store = openPushStore(undefined);
  // The verdict on each holder; a visitor without a key has none.
  const verdicts = new Map<string | undefined, boolean | undefined>([
    ["key", true],
    ["token", true],
    [undefined, true],
  ]);
  const push = new PushAlerts({
    ...{ store, clock, isFree: true, allowPrivate: true, contact: "mailto:ops@example.org" },
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
  // Without the issuer's keys, messages of a token wait.
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
