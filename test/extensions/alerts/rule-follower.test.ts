import { expect } from "vitest";
import type { Alert } from "../../../src/extensions/alerts/alert.ts";
import { AlertRule } from "../../../src/extensions/alerts/rules/alert-rule.ts";
import { followRule } from "../../../src/extensions/alerts/rules/rule-follower.ts";
import { NEW_RULE } from "../../../src/extensions/alerts/rules/rule-state.ts";
import { type AlertStore, openAlertStore } from "../../../src/extensions/alerts/store/alert-store.ts";
import { GroupCommit } from "../../../src/extensions/alerts/store/group-commit.ts";
import { LongPoll } from "../../../src/gateway/hub/index.ts";
import { type HubUnderTest, settled, test } from "../../gateway/hub/hub-fixture.ts";

/** Follows a rule of the target `desk`. Its alerts go to the store. */
function follow(sut: HubUnderTest, store: AlertStore, more: object = {}) {
  const stop = new AbortController();
  const notices: string[] = [];
  const { log, head, hub, clock } = sut;
  const done = followRule({
    head,
    clock,
    store,
    commits: new GroupCommit(store),
    target: "desk",
    signal: stop.signal,
    rule: AlertRule.parse({ name: "rule", ...more }),
    poll: new LongPoll({ log, head, history: hub.history, clock, stopping: stop.signal }),
    steadyMs: () => clock.monotonic(),
    isDisabled: () => false,
    onAlerts: () => {},
    notify: (_level, message) => notices.push(message),
  });
  const end = async () => {
    stop.abort();
    await done;
  };
  return { end, notices };
}

/** Removes and returns all queued alerts. */
function drain(store: AlertStore): readonly Alert[] {
  const alerts = [];
  for (let next = store.first("desk"); next; next = store.first("desk")) {
    alerts.push(next);
    store.remove(next);
  }
  return alerts;
}

async function quiet(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await settled();
}

const typesOf = (alerts: readonly Alert[]) => alerts.map(({ body }) => JSON.parse(body).type);
const cursorsOf = (alerts: readonly Alert[]) => alerts.map(({ body }) => JSON.parse(body).data.event.cursor);

test("[L3] a rule begins at the head, and reports each start once, also across a restart", async ({
  sut,
}) => {
  const store = openAlertStore();
  await sut.publish("flare", "list");
  const first = follow(sut, store);
  await quiet();
  await sut.publish("list", "flare", "refresh");
  await sut.publish("flare");
  await quiet();
  await first.end();
  await sut.publish("flare", "list");
  const second = follow(sut, store);
  await quiet();
  await sut.publish("list", "refresh");
  await quiet();
  await second.end();
  const alerts = drain(store);
  expect(cursorsOf(alerts)).toEqual(["test1-4", "test1-6", "test1-7"]);
  expect(new Set(alerts.map(({ id }) => id)).size).toBe(3);
});

test("[L3] events that the log no longer holds are reported as lost, and the rule continues at the head", async ({
  make,
}) => {
  const sut = make({ log: { minCount: 2, maxAgeMs: 0, lastingAgeMs: 0 } });
  const store = openAlertStore();
  const first = follow(sut, store);
  await quiet();
  await first.end();
  for (let at = 0; at < 4; at++) {
    await sut.publish("flare", "list");
    sut.clock.advance(1);
  }
  const second = follow(sut, store);
  await quiet();
  await sut.publish("flare");
  await quiet();
  await second.end();
  const alerts = drain(store);
  expect(typesOf(alerts)).toEqual(["alerts-lost", "flare-started"]);
  expect(JSON.parse(alerts[0]?.body ?? "").data).toMatchObject({
    rule: "rule",
    reason: "expired",
    events: 8,
    after: "test1-0",
  });
});

test("[L3] a rule with a damaged stored cursor reports lost alerts, and continues at the head", async ({
  sut,
}) => {
  const store = openAlertStore();
  store.commit("desk/rule", { cursor: "{", state: NEW_RULE }, []);
  const { end, notices } = follow(sut, store);
  await quiet();
  await sut.publish("flare");
  await quiet();
  await end();
  const alerts = drain(store);
  expect([typesOf(alerts), notices]).toEqual([["alerts-lost", "flare-started"], []]);
  expect(JSON.parse(alerts[0]?.body ?? "").data).toMatchObject({ reason: "epoch-changed", events: null });
});

test("[W36] starts are reported from a cursor that is hours old, although other events have expired", async ({
  make,
}) => {
  const sut = make({ log: { minCount: 2, maxAgeMs: 0 } });
  const store = openAlertStore();
  const first = follow(sut, store);
  await quiet();
  await first.end();
  for (let hour = 0; hour < 5; hour++) {
    await sut.publish("flare", "list", "refresh", "refresh");
    sut.clock.advance(3_600_000);
  }
  const second = follow(sut, store);
  await quiet();
  await second.end();
  expect(typesOf(drain(store))).toEqual(Array(5).fill("flare-started"));
});

test("a rule reports only events that match its filter and names", async ({ sut }) => {
  const store = openAlertStore();
  const rule = follow(sut, store, { channels: ["*"], filter: { symbols: ["t1"], names: ["token-listed"] } });
  await quiet();
  for (let at = 0; at < 6; at++) await sut.publish("list", "flare");
  await quiet();
  await rule.end();
  const alerts = drain(store);
  expect(alerts.length).toBeGreaterThan(1);
  for (const { body } of alerts) {
    const { type, data } = JSON.parse(body);
    expect([type, data.event.data.listing.token.symbol]).toEqual(["token-listed", "T1"]);
  }
});

test("a level that is crossed while no process runs is reported by the next process, once", async ({
  sut,
}) => {
  const store = openAlertStore();
  const edge = { field: "recent_price_change", above: 3, below: 0 };
  const first = follow(sut, store, { edge });
  await quiet();
  await first.end();
  await sut.publish("list", "list", "flare", "refresh");
  for (const turn of [1, 2]) {
    const next = follow(sut, store, { edge });
    await quiet();
    await next.end();
    expect(typesOf(drain(store))).toEqual(turn === 1 ? ["edge-rose"] : []);
  }
});

test("a rule with a changed edge, filter or channels starts over, and reports nothing that was so before", async ({
  sut,
}) => {
  const store = openAlertStore();
  const edge = { field: "recent_price_change", above: 3, below: 0 };
  const first = follow(sut, store, { edge, filter: { symbols: ["none"] } });
  await quiet();
  await sut.publish("list", "list", "flare", "refresh");
  await quiet();
  await first.end();
  for (const changed of [
    { edge },
    { edge, channels: ["flares.*"] },
    { edge: { field: "liquidity", above: 1e15, below: 1e14, on: "both" } },
  ]) {
    const next = follow(sut, store, changed);
    await quiet();
    await next.end();
    expect(typesOf(drain(store)), JSON.stringify(changed)).toEqual([]);
  }
});

test("when the store fails, as on a full disk, no alert is lost or repeated", async ({ sut }) => {
  const store = openAlertStore();
  const commit = store.commit.bind(store);
  let full = false;
  store.commit = (...given) => {
    if (full) throw new Error("database or disk is full");
    commit(...given);
  };
  const rule = follow(sut, store, { quiet_seconds: 1 });
  await quiet();
  await sut.publish("flare");
  await quiet();
  full = true;
  const slept = sut.clock.nextSleep();
  await sut.publish("flare", "flare");
  await slept;
  full = false;
  sut.clock.advance(5_000);
  await quiet();
  await rule.end();
  expect(cursorsOf(drain(store))).toEqual(["test1-1", "test1-2", "test1-3"]);
  expect(rule.notices).toEqual([
    expect.stringMatching(/rule rule failed; resuming from its last saved position.*disk is full/),
  ]);
});

/** Returns the types of a rule's alerts while a flare's liquidity is 51, 74, 11, 48, 85, 22 k. */
async function alertTypesOf(sut: HubUnderTest, more: object): Promise<readonly unknown[]> {
  const store = openAlertStore();
  const rule = follow(sut, store, more);
  await quiet();
  await sut.publish("flare");
  for (let at = 0; at < 5; at++) await sut.publish("refresh");
  await quiet();
  await rule.end();
  return typesOf(drain(store));
}

test.for([
  [undefined, ["flare-started"]],
  [true, ["flare-started"]],
  [false, ["flare-started", "flare-started"]],
] as const)(
  "[W40] a rule without an edge is sticky by default, and reports a start at each new match only if it is not: sticky %s",
  async ([sticky, reported], { sut }) => {
    const filter = { min_liquidity: 50_000, ...(sticky === undefined ? {} : { sticky }) };
    expect(await alertTypesOf(sut, { filter })).toEqual(reported);
  },
);

test.for([
  [undefined, ["edge-rose", "edge-rose"]],
  [false, ["edge-rose", "edge-rose"]],
  [true, ["edge-rose", "edge-fell", "edge-rose"]],
] as const)(
  "[W40] a rule with an edge is not sticky by default, and reports a fall of a former match only if it is: sticky %s",
  async ([sticky, reported], { sut }) => {
    const filter = { min_liquidity: 50_000, ...(sticky === undefined ? {} : { sticky }) };
    const edge = { field: "liquidity", above: 60_000, below: 20_000, on: "both" };
    expect(await alertTypesOf(sut, { filter, edge })).toEqual(reported);
  },
);
