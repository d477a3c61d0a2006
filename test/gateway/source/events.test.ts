import { describe, expect, test } from "vitest";
import { eventLine } from "../../../src/app/cli/replay.ts";
import { type ChainChartItem, EMPTY_SNAPSHOT, type Snapshot } from "../../../src/base/model/index.ts";
import { type EventBody, FlarewireError } from "../../../src/base/protocol/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { SAMPLE_OUTCOME } from "../../support/world/samples.ts";
import { explanation, flare, flareId, listing, snapshotOf } from "./sample-snapshots.ts";

const AT = Date.UTC(2017, 10, 12, 8, 35);
const NOW = "2017-11-12T08:35:00.000Z";
const events = (before: Snapshot, after: Snapshot) => toEvents(before, after, AT);
const namesIn = (batch: readonly EventBody[]) => batch.map(({ name, channel }) => `${name} ${channel}`);

const bcc = flare("BCC");
const ended = flare("BCC", { finished_trending_at: "2017-11-12T08:34:00.000Z" });
const why = explanation();

describe("a flare", () => {
  test("starts in pro because it was detected, with its explanation", () => {
    expect(events(EMPTY_SNAPSHOT, snapshotOf({ pro: [bcc] }, { BCC: why }))).toEqual([
      {
        name: "flare-started",
        channel: "flares.pro",
        observed_at: NOW,
        data: { op: "insert", index: 0, flare: bcc, why, cause: "detected" },
      },
    ]);
  });

  test("starts in free because it has aged", () => {
    const [event] = events(snapshotOf({ pro: [bcc] }), snapshotOf({ pro: [bcc], free: [bcc] }));
    expect(event).toMatchObject({
      name: "flare-started",
      channel: "flares.free",
      data: { cause: "aged", why: null },
    });
  });

  test("leaves free and pro before it enters the finished list, in its final form and with the cause of its end", () => {
    const faded = explanation({ score: 0.4, finish_cause: "faded" });
    const batch = events(snapshotOf({ free: [bcc], pro: [bcc] }, { BCC: why }), {
      ...snapshotOf({ finished: [ended] }, { BCC: faded }),
      outcomes: { [bcc.id]: SAMPLE_OUTCOME },
    });
    expect(namesIn(batch)).toEqual([
      "flare-finished flares.free",
      "flare-finished flares.pro",
      "flare-finished flares.finished",
    ]);
    const end = { flare: ended, why: faded, cause: "faded", outcome: SAMPLE_OUTCOME };
    expect(batch.map(({ data }) => data)).toEqual([
      { op: "remove", id: bcc.id, ...end },
      { op: "remove", id: bcc.id, ...end },
      { op: "insert", index: 0, ...end },
    ]);
  });

  test("that is finished gets its final outcome in a separate event, without the flare", () => {
    const listed = snapshotOf({ finished: [ended] });
    const final = { ...SAMPLE_OUTCOME, change_60m: -3, final: true };
    const before = { ...listed, outcomes: { [bcc.id]: SAMPLE_OUTCOME } };
    const after = { ...listed, outcomes: { [bcc.id]: final } };
    const [event, ...others] = events(before, after);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ name: "flare-outcome", channel: "flares.finished" });
    expect(event?.data).toEqual({ op: "set", id: bcc.id, set: {}, outcome: final });
    expect(events(after, EMPTY_SNAPSHOT).map(({ name }) => name)).toEqual(["flare-expired"]);
  });

  test("that vanishes ends in its last form, at the time of observation, with cause upstream", () => {
    const [event] = events(snapshotOf({ pro: [bcc] }, { BCC: why }), EMPTY_SNAPSHOT);
    expect(event).toMatchObject({
      name: "flare-finished",
      data: { op: "remove", flare: { ...bcc, finished_trending_at: NOW }, why, cause: "upstream" },
    });
  });

  test.each([
    ["canary", ["liquidity-removed"]],
    ["canary", ["price-fallen", "quick-sellers"]],
    ["fallen", ["price-fallen"]],
    ["upstream", []],
  ])("is withdrawn from free by cause %s while it continues in pro with warnings %j", (cause, warnings) => {
    const warned = explanation({ warnings });
    const batch = events(
      snapshotOf({ free: [bcc], pro: [bcc] }, { BCC: why }),
      snapshotOf({ pro: [bcc] }, { BCC: warned }),
    );
    expect(batch[0]).toEqual({
      name: "flare-withdrawn",
      channel: "flares.free",
      observed_at: NOW,
      data: { op: "remove", id: bcc.id, cause },
    });
  });

  test("that an upstream removes from pro but not from free is withdrawn, not ended", () => {
    const batch = events(snapshotOf({ free: [bcc], pro: [bcc] }), snapshotOf({ free: [bcc] }));
    expect(namesIn(batch)).toEqual(["flare-withdrawn flares.pro"]);
  });

  test("expires from the finished list", () => {
    expect(events(snapshotOf({ finished: [ended] }), EMPTY_SNAPSHOT)).toEqual([
      {
        name: "flare-expired",
        channel: "flares.finished",
        observed_at: NOW,
        data: { op: "remove", id: bcc.id },
      },
    ]);
  });

  test("causes events with only its changes, in each list", () => {
    const moved = flare("BCC", { recent_price_change: 15, social_data: null });
    const batch = events(
      snapshotOf({ free: [bcc], pro: [bcc] }),
      snapshotOf({ free: [moved], pro: [moved] }),
    );
    expect(namesIn(batch)).toEqual(["flare-updated flares.free", "flare-updated flares.pro"]);
    for (const { data } of batch) {
      expect(data).toEqual({ op: "set", id: bcc.id, set: { recent_price_change: 15 } });
    }
  });

  test("whose explanation alone changes is updated without fields and with the new explanation, or null if it is gone", () => {
    const later = explanation({ score: 2.9 });
    const [changed] = events(
      snapshotOf({ pro: [bcc] }, { BCC: why }),
      snapshotOf({ pro: [bcc] }, { BCC: later }),
    );
    expect(changed?.data).toEqual({ op: "set", id: bcc.id, set: {}, why: later });
    const [gone] = events(snapshotOf({ pro: [bcc] }, { BCC: why }), snapshotOf({ pro: [bcc] }));
    expect(gone?.data).toEqual({ op: "set", id: bcc.id, set: {}, why: null });
  });

  test("that surges again is reported once in each running list, with its fields, its whole form and its explanation", () => {
    const moved = flare("BCC", { recent_price_change: 40 });
    const surge = { number: 1, at: NOW, price: "0.27", score: 6.5 };
    const [first, second] = [explanation({ surge }), explanation({ surge: { ...surge, number: 2 } })];
    const listed = (one: typeof bcc, own: typeof why) =>
      snapshotOf({ free: [one], pro: [one], finished: [flare("NEO")] }, { BCC: own, NEO: own });
    const batch = events(listed(bcc, why), listed(moved, first));
    expect(namesIn(batch)).toEqual([
      "flare-surged flares.free",
      "flare-surged flares.pro",
      "flare-updated flares.finished",
    ]);
    const data = { op: "set", id: bcc.id, set: { recent_price_change: 40 }, flare: moved, why: first, surge };
    expect(batch[1]).toEqual({ name: "flare-surged", channel: "flares.pro", observed_at: NOW, data });
    const names = (before: typeof why, after: typeof why) =>
      events(listed(moved, before), listed(moved, after)).map(({ name }) => name);
    expect(names(first, second).slice(0, 2)).toEqual(["flare-surged", "flare-surged"]);
    expect(new Set(names(first, explanation({ surge, score: 2 })))).toEqual(new Set(["flare-updated"]));
    expect(new Set(names(second, first))).toEqual(new Set(["flare-updated"]));
    expect(new Set(names(first, why))).toEqual(new Set(["flare-updated"]));
  });

  test("that enters a list with a surge only starts there", () => {
    const surged = explanation({ surge: { number: 1, at: NOW, price: "0.27", score: 6.5 } });
    const batch = events(
      snapshotOf({ pro: [bcc] }, { BCC: why }),
      snapshotOf({ free: [bcc], pro: [bcc] }, { BCC: surged }),
    );
    expect(namesIn(batch)).toEqual(["flare-started flares.free", "flare-surged flares.pro"]);
  });

  test("that swaps positions with another causes an order change", () => {
    const neo = flare("NEO");
    const [event] = events(snapshotOf({ pro: [bcc, neo] }), snapshotOf({ pro: [neo, bcc] }));
    expect(event).toMatchObject({ name: "flare-updated", data: { op: "order", ids: [neo.id, bcc.id] } });
  });
});

describe("fields", () => {
  test("a nested object is replaced as a whole, null is a value, and a missing field is unset", () => {
    const before = { ...flare("BCC", { market_data: null }), x_rank: 7 };
    const market_data = { market_id: "bcc", image_url: null, name: "BCC" };
    const after = flare("BCC", { market_data, token: { ...bcc.token, price: "0.22" } });
    const [event] = events(snapshotOf({ pro: [before] }), snapshotOf({ pro: [after] }));
    expect(event?.data).toEqual({
      op: "set",
      id: bcc.id,
      set: { market_data, token: { ...bcc.token, price: "0.22" } },
      unset: ["x_rank"],
    });
    const [back] = events(
      snapshotOf({ pro: [after] }),
      snapshotOf({ pro: [{ ...after, market_data: null }] }),
    );
    expect(back?.data).toEqual({ op: "set", id: bcc.id, set: { market_data: null } });
  });

  test("items and lists that are the same objects are not compared", () => {
    const touchy = flare("BCC");
    Object.defineProperty(touchy, "liquidity", {
      enumerable: true,
      get: () => {
        throw new Error("looked into");
      },
    });
    const before = snapshotOf({ pro: [touchy] });
    const after = { ...snapshotOf({ pro: [flare("NEO"), touchy] }), newest: before.newest };
    expect(namesIn(events(before, after))).toEqual(["flare-started flares.pro"]);
  });
});

test("a listing is listed, updated and unlisted", () => {
  const aaa = listing("AAA");
  const dearer = listing("AAA", { liquidity: "1200" });
  const [listed] = events(EMPTY_SNAPSHOT, snapshotOf({ newest: [aaa] }));
  expect(listed).toMatchObject({ name: "token-listed", data: { op: "insert", index: 0, listing: aaa } });
  const [updated] = events(snapshotOf({ newest: [aaa] }), snapshotOf({ newest: [dearer] }));
  expect(updated).toMatchObject({ name: "token-updated", data: { op: "set", set: { liquidity: "1200" } } });
  const [unlisted] = events(snapshotOf({ newest: [aaa] }), EMPTY_SNAPSHOT);
  expect(unlisted).toMatchObject({ name: "token-unlisted", data: { op: "remove", id: aaa.id } });
});

test("a group's chart changes in one event, and so does its leaderboard", () => {
  const item = (symbol: string, streak: number): ChainChartItem => ({
    id: flareId(symbol),
    most_recent_price_average: "1",
    price_change_from_average: 2,
    streak,
    latest_candle_prices: [1],
    most_recent_price: "1",
    recent_average_price: "1",
    token: { symbol, price: "1", address: "0x1" },
    market_data: null,
  });
  const entry = (time_trended: number) => ({
    type: "token" as const,
    time_trended,
    average_position: 1,
    object: { symbol: "BTC", price: "7000" },
  });
  const before: Snapshot = {
    ...EMPTY_SNAPSHOT,
    charts: { ...EMPTY_SNAPSHOT.charts, matic: [item("A", 1), item("B", 5)] },
    leaderboards: { ...EMPTY_SNAPSHOT.leaderboards, exchange: [entry(60)] },
  };
  const after: Snapshot = {
    ...EMPTY_SNAPSHOT,
    charts: { ...EMPTY_SNAPSHOT.charts, matic: [item("C", 1), item("B", 6)] },
    leaderboards: { ...EMPTY_SNAPSHOT.leaderboards, exchange: [entry(120)] },
  };
  expect(events(before, after)).toEqual([
    {
      name: "chart-updated",
      channel: "charts.matic",
      observed_at: NOW,
      data: {
        group: "matic",
        changes: [
          { op: "remove", id: flareId("A") },
          { op: "insert", index: 0, item: item("C", 1) },
          { op: "set", id: flareId("B"), set: { streak: 6 } },
        ],
      },
    },
    {
      name: "leaderboard-updated",
      channel: "leaderboards.exchange",
      observed_at: NOW,
      data: { group: "exchange", changes: [{ op: "set", id: "BTC", set: { time_trended: 120 } }] },
    },
  ]);
});

test("a list that contains a key twice is rejected with channel and key, on either side", () => {
  const twice = snapshotOf({ pro: [bcc, bcc] });
  const refusal = new FlarewireError("invalid-input", `flares.pro contains ${bcc.id} twice`);
  expect(() => events(EMPTY_SNAPSHOT, twice)).toThrow(refusal);
  expect(() => events(twice, EMPTY_SNAPSHOT)).toThrow(refusal);
});

test("[L4] an event's line has its cursor and body in a fixed order of fields, without the run", () => {
  const event: EventBody = {
    data: { op: "remove", id: "x" },
    observed_at: NOW,
    channel: "flares.finished",
    name: "flare-expired",
  };
  expect(eventLine(7, event)).toBe(
    `{"seq":7,"name":"flare-expired","channel":"flares.finished","observed_at":"${NOW}","data":{"op":"remove","id":"x"}}`,
  );
});
