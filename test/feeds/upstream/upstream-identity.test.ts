import { expect, test } from "vitest";
import { withKnownIds } from "../../../src/feeds/upstream/upstream-identity.ts";
import { flareOf, type Market, marketOf } from "../../support/world/upstream-market.ts";

const MARKET: Market = { running: [1, 2, 3], free: [2], finished: [1_001], newest: [7] };
const BEFORE = marketOf(MARKET);

/** Returns another spelling of the same address. */
const inUpperCase = (address: string) => address.toUpperCase().replace(/^0X/, "0x");

test("a flare with the same address and start is the same flare, regardless of its id and the address's spelling", () => {
  const number = 0xabcd;
  const before = marketOf({ running: [number] });
  const again = flareOf(number, 5);
  const token = { ...again.token, address: inUpperCase(again.token.address) };
  const answer = marketOf({ running: [number] });
  const renamed = withKnownIds(
    { ...answer, flares: { ...answer.flares, pro: [{ ...again, token }] } },
    before,
  );
  expect(renamed.flares.pro.map(({ id }) => id)).toEqual([flareOf(number).id]);
});

test("if every id changes each time, every list and explanation keeps the known ids", () => {
  for (const draw of [1, 2, 3]) expect(withKnownIds(marketOf({ ...MARKET, draw }), BEFORE)).toEqual(BEFORE);
});

test("two flares with the same token and start keep two ids", () => {
  const twin = { ...flareOf(1), id: flareOf(9).id };
  const before = { ...BEFORE, flares: { ...BEFORE.flares, pro: [flareOf(1), twin] } };
  const answer = [flareOf(1, 4), { ...flareOf(1, 5), latest_buy_count: 77 }, flareOf(1, 6)];
  const renamed = withKnownIds({ ...BEFORE, flares: { ...BEFORE.flares, pro: answer } }, before);
  const ids = renamed.flares.pro.map(({ id }) => id);
  expect(ids.slice(0, 2)).toEqual([flareOf(1).id, twin.id]);
  expect(new Set(ids).size).toBe(3);
});
