import { expect, test } from "vitest";
import type { Flare } from "../../../src/base/model/index.ts";
import {
  type AlertSettings,
  MAX_ENTRIES,
  NO_ALERTS,
  toggleEntry,
  tokenQuery,
} from "../../../src/clients/dashboard/state/alerts/alert-settings.ts";
import { alertTexts } from "../../../src/clients/dashboard/state/alerts/alert-texts.ts";
import { AlertWatch } from "../../../src/clients/dashboard/state/alerts/alert-watch.ts";
import { DEFAULT_QUERY, readQuery } from "../../../src/clients/dashboard/state/flare-query.ts";
import type { StreamEvent, View } from "../../../src/clients/sdk/index.ts";
import {
  SAMPLE_EXCHANGE_FLARE,
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_OUTCOME,
} from "../../support/world/samples.ts";

const ADDRESS = SAMPLE_FLARE.token.address;
const flare = (id: string, more: Partial<Flare> = {}): Flare => ({ ...SAMPLE_FLARE, id, ...more });
const viewOf = (pro: readonly Flare[], finished: readonly Flare[] = []): View => ({
  explanations: Object.fromEntries([...pro, ...finished].map(({ id }) => [id, SAMPLE_EXPLANATION])),
  outcomes: Object.fromEntries(finished.map(({ id }) => [id, SAMPLE_OUTCOME])),
  flares: { pro: [...pro], free: [], finished_trending: [...finished] },
});
const event = (name: string, channel: string, data: object) =>
  ({ name, channel, observed_at: SAMPLE_FLARE.started_trending_at, data }) as StreamEvent;
const started = (one: Flare, channel = "flares.pro") => event("flare-started", channel, { flare: one });
const keys = (hits: readonly { readonly key: string }[]) => hits.map(({ key }) => key);

test("an alert reports each new flare of its token once, and none that had started before", () => {
  const watch = new AlertWatch("bsc");
  const [old, fresh, other] = [
    flare("old"),
    flare("fresh"),
    flare("other", { token: { ...SAMPLE_FLARE.token, address: `0x${"1".repeat(40)}` } }),
  ];
  watch.watchFor([readQuery(tokenQuery("bsc", ADDRESS))], viewOf([old]));
  const view = viewOf([old, fresh, other]);
  expect(keys(watch.take(started(old), view))).toEqual([]);
  expect(keys(watch.take(started(fresh), view))).toEqual(["start fresh"]);
  expect(keys(watch.take(started(fresh), view))).toEqual([]);
  expect(keys(watch.take(started(other), view))).toEqual([]);
});

test("a flare that meets a view's filter only after its start is reported then, once", () => {
  const watch = new AlertWatch("bsc");
  const poor = flare("a", { liquidity: "100" });
  watch.watchFor([{ ...DEFAULT_QUERY, minLiquidity: 50_000 }], viewOf([poor]));
  const set = (liquidity: string) =>
    event("flare-updated", "flares.pro", { op: "set", id: "a", set: { liquidity } });
  expect(keys(watch.take(set("200"), viewOf([flare("a", { liquidity: "200" })])))).toEqual([]);
  const rich = viewOf([flare("a", { liquidity: "60000" })]);
  expect(keys(watch.take(set("60000"), rich))).toEqual(["start a"]);
  expect(keys(watch.take(set("60000"), rich))).toEqual([]);
});

test("flares that started while the page was disconnected are reported once it is back", () => {
  const watch = new AlertWatch("bsc");
  watch.watchFor([DEFAULT_QUERY], viewOf([flare("a")]));
  expect(keys(watch.catchUp(viewOf([flare("b"), flare("a")])))).toEqual(["start b"]);
  expect(keys(watch.catchUp(viewOf([flare("b")])))).toEqual([]);
});

test("without full access, a token's flare is reported from the list free; with it, only from the list pro", () => {
  const query = [readQuery(tokenQuery("bsc", ADDRESS))];
  const delayed = {
    explanations: {},
    flares: { free: [flare("a")], finished_trending: [] },
  } as unknown as View;
  const anonymous = new AlertWatch("bsc");
  anonymous.watchFor(query, { explanations: {} } as View);
  expect(keys(anonymous.take(started(flare("a"), "flares.free"), delayed))).toEqual(["start a"]);
  const full = new AlertWatch("bsc");
  full.watchFor(query, viewOf([]));
  const view = viewOf([flare("a")]);
  expect(keys(full.take(started(flare("a"), "flares.free"), view))).toEqual([]);
  expect(keys(full.take(started(flare("a")), view))).toEqual(["start a"]);
});

test("an alert on the finished list reports the end of a flare and its peak", () => {
  const watch = new AlertWatch("bsc");
  watch.watchFor([{ ...DEFAULT_QUERY, channel: "flares.finished" }], viewOf([]));
  const view = viewOf([], [flare("a", { finished_trending_at: SAMPLE_FLARE.started_trending_at })]);
  const [hit] = watch.take(event("flare-finished", "flares.finished", { flare: flare("a") }), view);
  const [text] = alertTexts(hit ? [hit] : []);
  expect(text).toMatchObject({ title: "UNI: the flare ended", tag: "end a", path: "flare/a" });
  expect(text?.body).toContain("peak");
});

test("[W45] a surge of a reported flare is reported once, and one of a flare that is selected only now as its start", () => {
  const watch = new AlertWatch("bsc");
  watch.watchFor([{ ...DEFAULT_QUERY, minLiquidity: 50_000 }], viewOf([]));
  const surgeOf = (number: number) => ({
    ...SAMPLE_EXPLANATION,
    surge: { number, at: SAMPLE_FLARE.started_trending_at, price: "0.3", score: 6.5 },
  });
  const take = (number: number, liquidity: string, channel = "flares.pro") => {
    const one = flare("a", { liquidity });
    const why = surgeOf(number);
    const view = { ...viewOf([one]), explanations: { a: why } };
    const data = { op: "set", id: "a", set: {}, flare: one, why, surge: why.surge };
    return watch.take(event("flare-surged", channel, data), view);
  };
  expect(keys(take(1, "100"))).toEqual([]);
  expect(keys(take(2, "60000"))).toEqual(["start a"]);
  const hits = take(3, "70000");
  expect(keys(hits)).toEqual(["surge 3 a"]);
  expect(alertTexts(hits)).toMatchObject([
    { title: "UNI surges again", body: SAMPLE_EXPLANATION.text, tag: "surge 3 a" },
  ]);
  expect(keys(take(3, "70000"))).toEqual([]);
  expect(keys(take(4, "100"))).toEqual([]);
});

test("a notification has a sanitized name, the reason and a link to the token; four flares share one", () => {
  const hostile = flare("a", { token: { ...SAMPLE_FLARE.token, symbol: "\u202Eevil\nname" } });
  const hit = {
    key: "start a",
    news: "start" as const,
    flare: hostile,
    why: SAMPLE_EXPLANATION,
    outcome: undefined,
  };
  const path = `#/token/bsc/${ADDRESS}`;
  expect(alertTexts([hit])).toEqual([
    { title: "evil name is flaring", body: SAMPLE_EXPLANATION.text, tag: "start a", path },
  ]);
  expect(alertTexts([hit, hit, hit, hit])).toMatchObject([
    { title: "4 flares", body: `${Array(3).fill("evil name: +14 % in 5 min").join("; ")}; and 1 more` },
  ]);
});

test("a toggle adds an alert or removes it; at the limit, a new alert replaces the oldest", () => {
  const toggle = (before: AlertSettings, query: string) => toggleEntry(before, { query });
  const set = toggle(NO_ALERTS, "a");
  expect(set.entries).toEqual([{ query: "a" }]);
  expect(toggle(set, "a").entries).toEqual([]);
  let many = NO_ALERTS;
  for (let at = 0; at <= MAX_ENTRIES; at++) many = toggle(many, String(at));
  expect(many.entries.length).toBe(MAX_ENTRIES);
  expect(many.entries.at(-1)).toEqual({ query: String(MAX_ENTRIES) });
});

test("[W44] an alert of another group reports that group's flares only", () => {
  const query = tokenQuery("exchange", "BTC");
  expect(query).toBe("group=exchange&tokens=btc");
  const [watch, other] = [new AlertWatch("exchange"), new AlertWatch("bsc")];
  for (const one of [watch, other]) one.watchFor([readQuery(query)], undefined);
  const lists = { explanations: {}, flares: { pro: [SAMPLE_EXCHANGE_FLARE] } };
  const start = event("flare-started", "flares.exchange.pro", { flare: SAMPLE_EXCHANGE_FLARE });
  expect(keys(watch.take(start, lists))).toEqual([`start ${SAMPLE_EXCHANGE_FLARE.id}`]);
  expect(keys(watch.take(start, lists))).toEqual([]);
  expect(keys(other.take(started(flare("a")), viewOf([flare("a")])))).toEqual([]);
});
