import { expect, test } from "vitest";
import {
  CHAIN_GROUPS,
  GROUP_FACTS,
  GROUPS,
  groupCalled,
  groupOfChannel,
  groupSuggestion,
  normalizeAddress,
  wordsFor,
} from "../../../src/base/model/index.ts";
import { LIST_CHANNEL_NAMES } from "../../../src/base/protocol/index.ts";

test("the first four groups, in the order of responses, are those of the specification", () => {
  expect(GROUPS.slice(0, 4)).toEqual(["bsc", "exchange", "matic", "avalanche"]);
});

test("each word means one group only, and no part of a channel's name that is not a group", () => {
  const words = GROUPS.flatMap((group) => [...new Set(wordsFor(group))]);
  expect(words.toSorted()).toEqual([...new Set(words)].toSorted());
  const parts = LIST_CHANNEL_NAMES.flatMap((channel) => channel.split("."));
  const others = parts.filter((part) => !GROUPS.some((group) => group === part));
  expect(words.filter((word) => others.includes(word))).toEqual([]);
});

test("chains have different ids", () => {
  const ids = CHAIN_GROUPS.flatMap((group) => GROUP_FACTS[group].chainId ?? []);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  ["polygon", "matic"],
  ["Polygon", "matic"],
  ["POL", "matic"],
  ["avax", "avalanche"],
  ["binance", "bsc"],
  ["bsc", "bsc"],
  ["matix", undefined],
])("%s means the group %s", (text, group) => {
  expect(groupCalled(text)).toBe(group);
});

test("a suggestion knows other words for a group, and mistyped names", () => {
  expect(groupSuggestion("polygon")).toBe(" (did you mean matic?)");
  expect(groupSuggestion("avalanch")).toBe(" (did you mean avalanche?)");
  expect(groupSuggestion("nothing")).toBe("");
});

test("addresses of chains with hexadecimal ones are equal in any case, symbols only in the same", () => {
  expect(normalizeAddress("matic", "0xAb")).toBe("0xab");
  expect(normalizeAddress("exchange", "Ab")).toBe("Ab");
});

test.each([
  ["flares.pro", "bsc"],
  ["flares.matic.pro", "matic"],
  ["charts.avalanche", "avalanche"],
  ["leaderboards.exchange", "exchange"],
  ["status", "bsc"],
])("the items of %s belong to %s", (channel, group) => {
  expect(groupOfChannel(channel)).toBe(group);
});
