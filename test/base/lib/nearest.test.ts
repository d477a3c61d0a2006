import { expect, test } from "vitest";
import { nearest } from "../../../src/base/lib/text/nearest.ts";

const PARAMETERS = [
  ...["channels", "tokens", "symbols", "names", "min_liquidity", "min_price_change", "sticky", "mode"],
  ...["after", "snapshot", "mirror", "client", "ticket", "limit", "wait"],
];

test.each([
  ["min_price", "min_price_change"],
  ["min_pricechange", "min_price_change"],
  ["symbol", "symbols"],
  ["Channels", "channels"],
  ["chanels", "channels"],
  ["snapshto", "snapshot"],
  ["wiat", "wait"],
])("the nearest match of %s is %s", (typed, expected) => {
  expect(nearest(typed, PARAMETERS)).toBe(expected);
});

test.each(["tickers", "colour", "min", "chart", "x", ""])("%j has no near match", (typed) => {
  expect(nearest(typed, PARAMETERS)).toBeUndefined();
});

test("the match is the nearest of several names, and the first of equally near ones", () => {
  expect(nearest("flares.fre", ["flares.pro", "flares.free"])).toBe("flares.free");
  expect(nearest("charts.xsc", ["charts.asc", "charts.bsc"])).toBe("charts.asc");
});
