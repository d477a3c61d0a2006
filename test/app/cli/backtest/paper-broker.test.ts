import { expect, test } from "vitest";
import { PaperBroker } from "../../../../src/app/cli/backtest/paper-broker.ts";
import { groupedKey } from "../../../../src/base/model/token-key.ts";

test("an order does not fill at a later correction of its own minute's candle", () => {
  const broker = new PaperBroker({ fee: 0, slippage: 0 });
  const token = { group: "exchange", token: "A_B" } as const;
  const price = (atMs: number, value: number) => ({ atMs, value, text: `${value}` });
  broker.buy(token, 60_000);
  broker.fill(groupedKey(token), price(60_000, 1));
  broker.fill(groupedKey(token), price(120_000, 2));
  broker.sell(token, 180_000, "");
  broker.fill(groupedKey(token), price(180_000, 9));
  broker.fill(groupedKey(token), price(240_000, 4));
  const { trades } = broker.settle();
  expect(trades.map(({ bought, sold }) => [bought.value, sold.value])).toEqual([[2, 4]]);
});
