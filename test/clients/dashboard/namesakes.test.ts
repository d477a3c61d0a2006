import { expect, test } from "vitest";
import { namesakesOf } from "../../../src/clients/dashboard/text/event-token.ts";

test("tokens with the same symbol and different addresses are namesakes", () => {
  const moon = { symbol: "MOON", address: "0xa" };
  const other = { symbol: "MOON", address: "0xb" };
  const cake = { symbol: "CAKE", address: "0xc" };
  expect(namesakesOf([moon, undefined, cake, moon])).toEqual(new Set());
  expect(namesakesOf([moon, cake, other, moon])).toEqual(new Set(["0xa", "0xb"]));
  // Invisible characters tell no token from another.
  expect(namesakesOf([moon, { ...other, symbol: "MO\u202EON" }])).toEqual(new Set(["0xa", "0xb"]));
  // Sources write one address checksummed or in lower case.
  expect(namesakesOf([moon, { ...moon, address: "0xA" }])).toEqual(new Set());
  expect(namesakesOf([moon, { ...other, address: "0xB" }])).toEqual(new Set(["0xa", "0xb"]));
});
