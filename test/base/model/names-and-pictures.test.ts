import { expect, test } from "vitest";
import {
  completeSnapshot,
  EMPTY_SNAPSHOT,
  flaresIn,
  GROUPS,
  groupCalled,
  groupOfChannel,
  groupSuggestion,
  keyOf,
  nameItem,
  namesInText,
  normalizeAddress,
  tokenOf,
  venueOf,
  withFlares,
} from "../../../src/base/model/index.ts";
import { END_TEXTS, isHardToSell, sayWarning } from "../../../src/base/model/text/end-texts.ts";
import { finishedAlert, startedAlert, surgedAlert } from "../../../src/base/model/text/flare-alert.ts";
import { closesOf, priceLine } from "../../../src/base/model/text/price-line.ts";
import { groupedKey, shortAddress } from "../../../src/base/model/token-key.ts";
import { explanation, flare, snapshotOf } from "../../gateway/source/sample-snapshots.ts";

const pepe = flare("PEPE");
const { address: _address, ...symbolOnly } = pepe.token;
const pair = {
  ...pepe,
  token: symbolOnly,
  group: "exchange" as const,
  pair: "PEPE/USDT",
  exchange: "binance",
};
const pol = { ...pepe, group: "matic" as const };

test("an item is named by its pair, else by the symbol wherever it is", () => {
  expect([
    nameItem(pair),
    nameItem({ ...pair, pair: null }),
    nameItem({ flare: { token: { symbol: "A" } } }),
    nameItem({ object: { symbol: "B" } }),
    nameItem({ object: { token: { symbol: "C" } } }),
    nameItem({ token: { symbol: 7 } }),
    nameItem({ pair: null }),
  ]).toEqual(["PEPE/USDT", "PEPE", "A", "B", "C", undefined, undefined]);
});

test("a sentence names the exchange or chain, except BSC", () => {
  expect([
    venueOf(pair, "exchange"),
    venueOf(pepe, "exchange"),
    venueOf(pol, "matic"),
    venueOf(pepe, "bsc"),
  ]).toEqual(["binance", undefined, "Polygon", "BSC"]);
  expect(namesInText(pair, "exchange")).toEqual(["PEPE/USDT", "binance"]);
  expect(namesInText(pepe, "bsc")).toEqual(["PEPE"]);
  expect(namesInText(pol, "matic")).toEqual(["PEPE", "Polygon"]);
  expect(namesInText({}, "exchange")).toEqual([""]);
});

test("an alert of a start, a surge and an end has its own title, tag and place, and untrusted names are made safe", () => {
  const odds = { n: 105, rug_60m: { share: 0.09 } };
  const why = explanation({ text: "8 times", locked: { burned: 0.97, held: 0, until: null } });
  const like = { ...why, odds: odds as never, surge: { at: why.at, number: 2 } as never };
  expect(startedAlert(pepe, like)).toEqual({
    title: "PEPE is flaring",
    body: "8 times; liquidity 97 % burned; like it: 9 % rugged within the hour (n 105)",
    tag: `start ${pepe.id}`,
    path: `#/token/bsc/${pepe.token.address}`,
  });
  expect(startedAlert(pepe, null).body).toBe("");
  expect(surgedAlert(pair, like)).toMatchObject({
    title: "PEPE/USDT on binance surges again",
    tag: `surge 2 ${pepe.id}`,
    path: "#/token/exchange/PEPE",
    body: startedAlert(pair, like).body,
  });
  expect(finishedAlert(pol, null, why)).toEqual({
    title: "PEPE on Polygon: the flare ended",
    body: "",
    tag: `end ${pepe.id}`,
    path: `flare/${pepe.id}`,
  });
  const evil = { ...pepe, token: { ...pepe.token, symbol: `A\u202e${"x".repeat(60)}` } };
  expect(startedAlert(evil, null).title).toBe(`A${"x".repeat(46)}… is flaring`);
});

test("warnings and ends are said in words; only a token that nobody sells is hard to sell", () => {
  expect(sayWarning("few-large-buyers")).toBe("few large buyers");
  expect([
    isHardToSell({ warnings: ["one-buyer", "no-seller"] }),
    isHardToSell({ warnings: [] }),
    isHardToSell(null),
  ]).toEqual([true, false, false]);
  expect(new Set(Object.values(END_TEXTS)).size).toBe(Object.keys(END_TEXTS).length);
});

test("keys of items and tokens", () => {
  const chain = { object: { address: "0xA", symbol: "S" } };
  expect([
    keyOf(pepe),
    keyOf({ object: { id: "i", address: "0xA" } } as never),
    keyOf(chain as never),
    keyOf({ object: { symbol: "S" } } as never),
  ]).toEqual([pepe.id, "i", "0xA", "S"]);
  expect([
    tokenOf({ token: { symbol: "S", address: "0xAB" } }),
    tokenOf({ token: { symbol: "S", address: null } }),
  ]).toEqual(["0xab", "S"]);
  expect([
    groupedKey({ group: "bsc", token: "0xAB" }),
    groupedKey({ group: "exchange", token: "aB" }),
  ]).toEqual(["bsc/0xab", "exchange/aB"]);
  expect([shortAddress("0x1234567890"), shortAddress("0x12345678901")]).toEqual([
    "0x1234567890",
    "0x1234…8901",
  ]);
});

test("every group is found by its name, its label and its aliases, in any case, and its tokens compare by its rule", () => {
  expect(["BNB", "polygon", "Pol", "AVAX", "bsc", "moon"].map(groupCalled)).toEqual([
    "bsc",
    "matic",
    "matic",
    "avalanche",
    "bsc",
    undefined,
  ]);
  expect([groupSuggestion("Polygon"), groupSuggestion("exchang"), groupSuggestion("zzzzzz")]).toEqual([
    " (did you mean matic?)",
    " (did you mean exchange?)",
    "",
  ]);
  expect([normalizeAddress("matic", "0xAB"), normalizeAddress("exchange", "AB")]).toEqual(["0xab", "AB"]);
  for (const group of GROUPS.slice(1)) expect(groupOfChannel(`flares.${group}.pro`)).toBe(group);
  expect([groupOfChannel("flares.pro"), groupOfChannel("charts.matic")]).toEqual(["bsc", "matic"]);
});

test("a snapshot is completed group by group, and its flares are read and changed in every group", () => {
  const snapshot = completeSnapshot({
    charts: { ...EMPTY_SNAPSHOT.charts, bsc: [] },
    flares: { free: [], pro: [pepe], finished_trending: [] },
  });
  const partial = completeSnapshot(JSON.parse('{"charts": {"bsc": [1]}, "leaderboards": {"matic": [2]}}'));
  expect(partial.charts).toEqual({ ...EMPTY_SNAPSHOT.charts, bsc: [1] });
  expect(partial.leaderboards).toEqual({ ...EMPTY_SNAPSHOT.leaderboards, matic: [2] });
  const both = { ...snapshot, "flares.matic": { free: [pol], pro: [], finished_trending: [pol] } };
  expect(flaresIn(both, "pro", "finished_trending")).toEqual([pepe, pol]);
  expect(flaresIn(both, "free")).toEqual([pol]);
  const emptied = withFlares(both, (flares) => ({ ...flares, pro: [], free: [] }));
  expect(flaresIn(emptied, "pro", "free", "finished_trending")).toEqual([pol]);
  expect(emptied.explanations).toBe(both.explanations);
  expect(snapshotOf({ pro: [pepe] }, {}).flares.pro).toEqual([pepe]);
});

const minute = (n: number) => new Date(n * 60_000).toISOString();
const closed = (n: number, close: string, volume = "1") => ({ open_at: minute(n), close, volume }) as never;
const SIZE = { width: 100, height: 50, priceHeight: 40, edge: 5, volumeHeight: 10 };

test("closes are placed at the ends of their minutes; a minute without a price has none", () => {
  expect(closesOf([closed(0, "1"), closed(1, "0"), closed(3, "2.5")])).toEqual([
    [60_000, 1],
    [240_000, 2.5],
  ]);
});

test("a line of prices steps over silent minutes, breaks at long gaps, and scales to its picture", () => {
  const line = priceLine([closed(0, "1", "2"), closed(1, "2", "4"), closed(4, "3", "0")], SIZE);
  // Four minutes on 100 pixels; from 1 at 35 to 3 at 5.
  expect(line?.price).toBe("M0.0 35.0L25.0 20.0L75.0 20.0L100.0 5.0");
  expect(line?.volume).toBe("M0.0 50v-5.0M12.5 50v-10.0M87.5 50v0.0");
  expect([line?.first, line?.last, line?.low, line?.high]).toEqual([[60_000, 1], [300_000, 3], 1, 3]);
  const candles = [closed(0, "1"), closed(1, "1"), closed(4, "1")];
  expect(priceLine(candles, { ...SIZE, maxGapMs: 179_999 })?.price).toBe("M0.0 35.0L25.0 35.0M100.0 35.0");
  expect(priceLine(candles, { ...SIZE, maxGapMs: 180_000 })?.price).not.toMatch(/M.*M/);
  expect(priceLine([closed(0, "1")], SIZE)).toBeUndefined();
  expect(priceLine([], SIZE)).toBeUndefined();
});

test("a picture of given times keeps what lies outside at its edges", () => {
  const line = priceLine([closed(0, "1"), closed(1, "2")], { ...SIZE, fromMs: 120_000, toMs: 240_000 });
  expect(line?.price).toBe("M0.0 35.0L0.0 5.0");
  expect([line?.x(180_000), line?.x(999_000), line?.y(1.5)]).toEqual([50, 100, 20]);
});
