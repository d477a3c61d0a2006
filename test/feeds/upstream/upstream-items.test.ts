import { expect } from "vitest";
import { EMPTY_SNAPSHOT, type Flare, Snapshot } from "../../../src/base/model/index.ts";
import { diffSnapshots } from "../../../src/gateway/source/diff.ts";
import { follow, json, test, text, wholeOf } from "../../support/servers/scripted-upstream.ts";
import {
  POLLED_SNAPSHOT,
  SAMPLE_BSC_CHART_ITEM,
  SAMPLE_CHAIN_ENTRY,
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_LISTING,
} from "../../support/world/samples.ts";

const idOf = (number: number) => `00000000-0000-5000-8000-${String(number).padStart(12, "0")}`;
const flareOf = (number: number): Flare => ({
  ...SAMPLE_FLARE,
  id: idOf(number),
  token: { ...SAMPLE_FLARE.token, address: `0x0${number}` },
});
const [A, B, C, D] = [flareOf(1), flareOf(2), flareOf(3), flareOf(4)];

/** Returns the body of `/snapshot` with this instead of its list of running flares. */
const withPro = (pro: unknown, more: object = {}) => ({
  ...wholeOf(EMPTY_SNAPSHOT),
  ...more,
  flares: { free: [], pro, finished_trending: [] },
});

test("a partly invalid item keeps its last valid version, at its new index, and the others are updated", async ({
  upstream,
}) => {
  const damaged = { ...B, liquidity: 12, token: { symbol: "BAD" }, latest_buy_count: 99 };
  const moved = { ...A, latest_buy_count: 77 };
  upstream.on("snapshot", json(withPro([A, B, C])), json(withPro([D, damaged, C, moved])));
  const { next, source, reports } = follow(upstream.url);
  await next();
  expect((await next()).snapshot.flares.pro).toEqual([D, B, C, moved]);
  expect(source.stats().invalidItems).toBe(1);
  expect(reports).toEqual([
    {
      list: "flares.pro",
      key: B.id,
      path: "liquidity",
      reason: expect.stringContaining("string"),
      action: "kept",
    },
  ]);
  expect(source.freshness().state).toBe("live");
});

test("an item that was never valid is omitted", async ({ upstream }) => {
  upstream.on(
    "snapshot",
    json(withPro([A, { ...B, started_trending_at: "yesterday" }, 7, null, "x", [], {}, C])),
  );
  const { next, source, reports } = follow(upstream.url);
  expect((await next()).snapshot.flares.pro).toEqual([A, C]);
  expect(source.stats().invalidItems).toBe(6);
  expect(reports[0]).toMatchObject({ key: B.id, path: "started_trending_at", action: "dropped" });
});

test("an item with an invalid id is identified by its token and start, and does not end", async ({
  upstream,
}) => {
  const { id: _lost, ...nameless } = B;
  upstream.on(
    "snapshot",
    json(withPro([A, B, C])),
    json(withPro([A, { ...nameless, id: 5 }, C])),
    json(withPro([A, nameless, C])),
  );
  const { next } = follow(upstream.url);
  await next();
  for (let poll = 0; poll < 2; poll += 1) expect((await next()).snapshot.flares.pro).toEqual([A, B, C]);
});

test("a damaged item is updated as soon as it is valid again", async ({ upstream }) => {
  const later = { ...A, recent_price_change: 50 };
  upstream.on(
    "snapshot",
    json(withPro([A])),
    json(withPro([{ ...later, liquidity: null }])),
    json(withPro([later])),
  );
  const { next } = follow(upstream.url);
  const seen: unknown[] = [];
  for (let poll = 0; poll < 3; poll += 1) seen.push((await next()).snapshot.flares.pro);
  expect(seen).toEqual([[A], [A], [later]]);
});

test("of two items with the same key, the first counts", async ({ upstream }) => {
  upstream.on("snapshot", json(withPro([A, { ...A, liquidity: "1" }, B])));
  const { next, source } = follow(upstream.url);
  const { snapshot } = await next();
  expect(snapshot.flares.pro).toEqual([A, B]);
  expect(source.stats().duplicates).toBe(1);
});

test("unknown fields pass through, at every depth", async ({ upstream }) => {
  const richer = { ...A, risk: { level: 3 }, token: { ...A.token, decimals: 18 } };
  const why = { ...SAMPLE_EXPLANATION, model: "v9" };
  upstream.on("snapshot", json(withPro([richer], { explanations: { [A.id]: why } })));
  const { next } = follow(upstream.url);
  const { snapshot } = await next();
  expect(snapshot.flares.pro).toEqual([richer]);
  expect(snapshot.explanations).toEqual({ [A.id]: why });
});

test("an explanation without sentence and units, as older services send it, receives them", async ({
  upstream,
}) => {
  const { text: _text, terms, ...older } = SAMPLE_EXPLANATION;
  const named = terms.map(({ unit: _unit, usual: _usual, ...term }) => term);
  const explanations = { [A.id]: { ...older, terms: named } };
  upstream.on("snapshot", json(withPro([{ ...A, liquidity: "5300" }], { explanations })));
  const { next, reports } = follow(upstream.url);
  const { snapshot } = await next();
  expect(snapshot.explanations[A.id]).toEqual({
    ...SAMPLE_EXPLANATION,
    text: "price 8.3 % above normal; $5.3K liquidity is thin",
    terms: terms.map((term) => ({ ...term, usual: null })),
  });
  expect(reports).toEqual([]);
});

test("a sentence with markup does not pass", async ({ upstream }) => {
  const hostile = { ...SAMPLE_EXPLANATION, text: '<a href="https://evil.example">free</a>' };
  upstream.on("snapshot", json(withPro([A], { explanations: { [A.id]: hostile } })));
  const { next, reports } = follow(upstream.url);
  expect((await next()).snapshot.explanations).toEqual({});
  expect(reports).toMatchObject([{ list: "explanations", key: A.id, path: "text", action: "dropped" }]);
});

test("a list that is not an array keeps its last valid content, and the others are updated", async ({
  upstream,
}) => {
  const broken = {
    ...wholeOf(POLLED_SNAPSHOT),
    charts: { ...POLLED_SNAPSHOT.charts, bsc: "none" },
    newest: null,
    leaderboards: 7,
  };
  const later = { ...SAMPLE_FLARE, recent_price_change: 99 };
  upstream.on(
    "snapshot",
    json(wholeOf(POLLED_SNAPSHOT)),
    json({ ...broken, flares: { ...POLLED_SNAPSHOT.flares, free: [later] } }),
  );
  const { next, source } = follow(upstream.url);
  await next();
  const flares = { ...POLLED_SNAPSHOT.flares, free: [later] };
  const expected = { ...POLLED_SNAPSHOT, flares };
  expect((await next()).snapshot).toEqual(expected);
  expect(source.stats().invalidLists).toBe(6);
});

test("a chart with more than ten items is cut to the ten that its schema allows", async ({ upstream }) => {
  const bsc = Array.from({ length: 12 }, (_, number) => ({ ...SAMPLE_BSC_CHART_ITEM, id: idOf(number) }));
  upstream.on("snapshot", json(wholeOf({ ...POLLED_SNAPSHOT, charts: { ...POLLED_SNAPSHOT.charts, bsc } })));
  const { next, source } = follow(upstream.url);
  const { snapshot } = await next();
  expect(snapshot.charts.bsc).toEqual(bsc.slice(0, 10));
  expect(Snapshot.safeParse(snapshot).success).toBe(true);
  expect(source.stats().overlong).toBe(1);
});

test("of a list with more than 10,000 items, the first 10,000 are used", async ({ upstream }) => {
  const bsc = Array.from({ length: 10_002 }, (_, number) => ({ ...SAMPLE_LISTING, id: idOf(number) }));
  upstream.on("snapshot", json(wholeOf({ ...POLLED_SNAPSHOT, newest: { bsc } })));
  const { next, source } = follow(upstream.url);
  expect((await next()).snapshot.newest.bsc.map(({ id }) => id)).toEqual(
    bsc.slice(0, 10_000).map(({ id }) => id),
  );
  expect(source.stats().overlong).toBe(1);
});

test("only explanations of listed flares are used, and an invalid one keeps its last valid version", async ({
  upstream,
}) => {
  const why = SAMPLE_EXPLANATION;
  upstream.on(
    "snapshot",
    json(withPro([A, B], { explanations: { [A.id]: why, [C.id]: why, [B.id]: { score: "high" } } })),
    json(withPro([A, B], { explanations: { [A.id]: { ...why, at: 0 }, [B.id]: why } })),
    json(withPro([A, B], { explanations: "none" })),
    json(withPro([B], { explanations: { [A.id]: why, [B.id]: why } })),
    json(withPro([B])),
  );
  const { next, reports } = follow(upstream.url);
  const seen: string[][] = [];
  for (let poll = 0; poll < 5; poll += 1) seen.push(Object.keys((await next()).snapshot.explanations));
  // A stays until its end is confirmed, and so does its explanation.
  expect(seen.map((ids) => ids.toSorted())).toEqual([
    [A.id],
    [A.id, B.id],
    [A.id, B.id],
    [A.id, B.id],
    [A.id],
  ]);
  expect(reports.map(({ list, action }) => [list, action])).toEqual([
    ["explanations", "dropped"],
    ["explanations", "kept"],
    ["explanations", "kept"],
  ]);
});

test("hostile items are rejected or made harmless, and the others are updated", async ({ upstream }) => {
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const item = (flare: Flare, more: string) => `${JSON.stringify(flare).slice(0, -1)},${more}}`;
  const flares = [
    item(A, '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'),
    item(B, `"more":${deep}`),
    JSON.stringify({ ...C, token: { ...C.token, name: "x".repeat(1_000_000) } }),
    item(flareOf(5), '"far":1e999'),
    item(flareOf(6), '"id":"__proto__"'),
    item(flareOf(7), '"started_trending_at":{"toString":1},"id":{"toString":1}'),
    JSON.stringify({ ...D, token: { ...D.token, name: "\u0000\u202E<script>" } }),
  ];
  const body = `{"flares":{"__proto__":[],"free":[],"pro":[${flares}],"finished_trending":[]},"newest":{"__proto__":{"bsc":[1]}},`;
  const rest =
    '"charts":{},"leaderboards":{},"explanations":{"__proto__":{}},"observed_at":"2017-11-12T08:30:00.000Z"}';
  upstream.on("snapshot", text(200, body + rest));
  const { next, source } = follow(upstream.url);
  const { snapshot } = await next();
  expect(snapshot.flares.pro.map(({ id }) => id)).toEqual([A.id, D.id]);
  expect(source.stats().invalidItems).toBe(5);
  expect(Object.hasOwn(snapshot.flares.pro[0] ?? {}, "__proto__")).toBe(false);
  expect("polluted" in {}).toBe(false);
  expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
});

test("unknown fields in place of a key can neither merge two items of a list nor leave one without a key", async ({
  upstream,
}) => {
  const entry = (id: unknown) => ({
    ...SAMPLE_CHAIN_ENTRY,
    id,
    object: { ...SAMPLE_CHAIN_ENTRY.object, id: "same" },
  });
  const matic = [entry(null), entry(7), entry("k1"), entry("k1"), entry("k2"), { ...SAMPLE_CHAIN_ENTRY }];
  upstream.on(
    "snapshot",
    json({ ...wholeOf(POLLED_SNAPSHOT), leaderboards: { ...POLLED_SNAPSHOT.leaderboards, matic } }),
  );
  const { next } = follow(upstream.url);
  const { snapshot } = await next();
  expect(snapshot.leaderboards.matic).toEqual([entry("k1"), entry("k2"), SAMPLE_CHAIN_ENTRY]);
  expect(() => diffSnapshots(EMPTY_SNAPSHOT, snapshot)).not.toThrow();
});

test("the same trouble is reported once in ten minutes, at most 20 per response, and always counted", async ({
  upstream,
}) => {
  const bad = Array.from({ length: 30 }, (_, number) => ({ ...flareOf(number), liquidity: number }));
  upstream.on("snapshot", json(withPro([{ ...A, liquidity: 1 }])));
  const { next, source, reports, clock } = follow(upstream.url);
  await next();
  await next();
  expect(reports).toHaveLength(1);
  clock.advance(600_000);
  await next();
  expect(reports).toHaveLength(2);
  upstream.on("snapshot", json(withPro(bad)));
  await next();
  expect(reports).toHaveLength(22);
  expect(source.stats().invalidItems).toBe(33);
});
