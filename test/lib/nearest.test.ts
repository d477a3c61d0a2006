import { expect, test } from "vitest";
import { nearest } from "../../src/lib/text/nearest.ts";

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
])("someone who typed %s meant %s", (typed, meant) => {
  expect(nearest(typed, PARAMETERS)).toBe(meant);
});

test.each(["tickers", "colour", "min", "chart", "x", ""])("of %j nobody can say what was meant", (typed) => {
  expect(nearest(typed, PARAMETERS)).toBeUndefined();
});

test("the nearest of several names is meant, and of equally near ones the first", () => {
  expect(nearest("flares.fre", ["flares.pro", "flares.free"])).toBe("flares.free");
  expect(nearest("charts.xsc", ["charts.asc", "charts.bsc"])).toBe("charts.asc");
});
