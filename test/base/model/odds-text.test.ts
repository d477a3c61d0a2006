import { expect, test } from "vitest";
import { oddsText } from "../../../src/base/model/text/odds-text.ts";

const share = (value: number) => ({ share: value, low: 0, high: 1 });

test("the odds are said as shares of the flares like it, with their number", () => {
  const pool = { n: 105, rug_60m: share(0.087), up_15m: share(0.62) };
  expect(oddsText(pool)).toBe("like it: 9 % rugged within the hour, 62 % higher after 15 min (n 105)");
  expect(oddsText({ ...pool, rug_60m: share(0.003), up_15m: null })).toBe(
    "like it: 0.3 % rugged within the hour (n 105)",
  );
  expect(oddsText({ n: 352, rug_60m: null, up_15m: null, fall_15m: share(0.41) })).toBe(
    "like it: 41 % fell 3 % within 15 min (n 352)",
  );
});

test("nothing is said without odds", () => {
  const nothing = { n: 1, rug_60m: null, up_15m: null };
  expect([oddsText(null), oddsText(undefined), oddsText(nothing)]).toEqual(["", "", ""]);
});
