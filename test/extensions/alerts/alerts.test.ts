import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pino } from "pino";
import { afterEach, expect, vi } from "vitest";
import { startAlerts } from "../../../src/extensions/alerts/alerts.ts";
import { openAlertStore } from "../../../src/extensions/alerts/store/alert-store.ts";
import { type HubUnderTest, test } from "../../gateway/hub/hub-fixture.ts";
import { type Finish, newDirectory } from "../../support/servers/edges.ts";
import { Receiver, webhookOf } from "./webhook-fixture.ts";

afterEach(() => vi.restoreAllMocks());

/** Prepares alerts of a market that the test controls, with a store file and a captured log. */
function begin({ log, head, hub, clock }: HubUnderTest, receiver: Receiver, finish: Finish) {
  const store = openAlertStore(join(newDirectory(finish), "alerts.sqlite"));
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const webhook = webhookOf({ url: receiver.url });
  const start = () =>
    startAlerts({ targets: [webhook], store, log, head, history: hub.history, clock, logger });
  return { store, lines, start };
}

/** Makes every transaction fail, as on a full disk, until the returned function is called. */
function fillDisk(): () => void {
  const { exec } = DatabaseSync.prototype;
  const full = vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    if (sql === "COMMIT") throw new Error("database or disk is full");
    exec.call(this, sql);
  });
  return () => void full.mockRestore();
}

test("[L5] when the disk is full during a delivery, no message is lost or repeated, and the log reports it", async ({
  sut,
  onTestFinished,
}) => {
  await using receiver = new Receiver();
  await receiver.up();
  const { lines, start, store } = begin(sut, receiver, onTestFinished);
  const alerts = start();
  await expect.poll(() => store.position("desk/all")).toBeDefined();
  let makeRoom = () => {};
  receiver.answer = (response) => {
    if (receiver.attempts.length === 1) makeRoom = fillDisk();
    response.writeHead(204).end();
  };
  await sut.publish("flare");
  await receiver.until(() => receiver.taken.length === 1);
  await expect.poll(() => lines).toContain("could not read or update the queue: database or disk is full");
  await sut.publish("flare");
  await expect
    .poll(() => lines.at(-1))
    .toMatch(/rule all failed; resuming from its last saved position.*disk is full/);
  expect(alerts.stats()).toMatchObject({ desk: { waiting: 1, disabled: false } });
  makeRoom();
  sut.clock.advance(60_000);
  await receiver.until(() => receiver.taken.length >= 2);
  await expect.poll(() => store.first("desk")).toBeUndefined();
  expect(receiver.taken.map(({ data }) => (data.event as { cursor: string }).cursor)).toEqual([
    "test1-1",
    "test1-2",
  ]);
  await alerts.stop();
});

test("[L5] a store that once fails to delete or to read stops neither the alerts nor their statistics", async ({
  sut,
  onTestFinished,
}) => {
  await using receiver = new Receiver();
  await receiver.up();
  const { lines, start, store } = begin(sut, receiver, onTestFinished);
  vi.spyOn(store, "retain").mockImplementationOnce(() => {
    throw new Error("database or disk is full");
  });
  const alerts = start();
  expect(lines).toEqual([
    "could not delete the state of removed targets and rules: database or disk is full",
  ]);
  await expect.poll(() => store.position("desk/all")).toBeDefined();
  vi.spyOn(store, "waiting").mockImplementationOnce(() => {
    throw new Error("disk I/O error");
  });
  expect(alerts.stats()).toMatchObject({ desk: { waiting: Number.NaN, attempts: { delivered: 0 } } });
  await sut.publish("flare");
  await receiver.until(() => receiver.taken.length === 1);
  expect(alerts.stats()).toMatchObject({ desk: { waiting: expect.any(Number) } });
  await alerts.stop();
});

test("a target with the id push has its own metrics beside those of all browsers", async ({
  sut,
  onTestFinished,
}) => {
  await using receiver = new Receiver();
  await receiver.up();
  const { store } = begin(sut, receiver, onTestFinished);
  const { log, head, hub, clock } = sut;
  const [own, browser] = ["push", "push-of-a-browser"].map((id) => webhookOf({ id, url: receiver.url }));
  if (!own || !browser) throw new Error("no targets");
  const shared = { store, log, head, history: hub.history, clock, logger: pino({ level: "silent" }) };
  const alerts = startAlerts({ ...shared, targets: [own], others: [browser] });
  await expect
    .poll(() => store.position("push/all") && store.position("push-of-a-browser/all"))
    .toBeDefined();
  await sut.publish("flare");
  await receiver.until(() => receiver.taken.length === 2);
  await expect
    .poll(() => Object.entries(alerts.stats()).map(([id, { attempts }]) => [id, attempts.delivered]))
    .toEqual([
      ["push/browsers", 1],
      ["push", 1],
    ]);
  await alerts.stop();
});
