import { expect, test } from "vitest";
import { valuesText } from "../../../src/clients/text/values-text.ts";

test("new values are described in words, with one in the singular", () => {
  const values = { recent_price_change: 16, latest_buy_count: 61, latest_sell_count: 1, liquidity: "25800" };
  expect(valuesText(values)).toBe("+16 % in 5 min, 61 buys, 1 sell, $25.8K liquidity");
  expect(valuesText({ latest_buy_count: 99_999, latest_sell_count: 123_400 })).toBe(
    "99999 buys, 123.4K sells",
  );
  expect(valuesText({ liquidity: "0", token: { price: "1.5" } })).toBe("liquidity unknown, price 1.5");
});

test("unknown fields and values of other types get the field's name, whatever a server sends", () => {
  const hostile = JSON.parse(
    '{"__proto__":{},"toString":1,"liquidity":{"toString":1},"latest_buy_count":"x","token":{"price":{"valueOf":1}}}',
  );
  expect(valuesText(hostile)).toBe("  proto  , toString, liquidity, latest buy count, token");
  expect(valuesText({ recent_price_change: null, liquidity: "1e400" })).toBe(
    "recent price change, liquidity",
  );
});
