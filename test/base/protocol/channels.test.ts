import { expect, test } from "vitest";
import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import {
  CHANNELS,
  CLOSE_CODES,
  isChannel,
  LIST_CHANNEL_NAMES,
  LIST_CHANNELS,
  listPathOf,
  matchChannels,
  SPEC_CHANNELS,
} from "../../../src/base/protocol/index.ts";

test("every list of the snapshot has exactly one channel", () => {
  const paths = Object.values(LIST_CHANNELS).map((path) => path.join("."));
  const { explanations: _, candles: _followed, ...resources } = EMPTY_SNAPSHOT;
  const lists = Object.entries(resources).flatMap(([resource, of]) =>
    Object.keys(of).map((list) => `${resource}.${list}`),
  );
  expect(paths.toSorted()).toEqual(lists.toSorted());
});

test("a channel's name is the path of its list", () => {
  for (const channel of LIST_CHANNEL_NAMES) expect(listPathOf(channel)).toEqual(LIST_CHANNELS[channel]);
});

test("the channels are the list channels, status and candles", () => {
  expect(CHANNELS).toEqual([...LIST_CHANNEL_NAMES, "status", "candles"]);
});

test.each([
  ["*", [...SPEC_CHANNELS, "status"]],
  ["candles", ["candles"]],
  ["flares.*", ["flares.free", "flares.pro", "flares.finished"]],
  ["newest.*", ["newest.bsc"]],
  ["charts.*", ["charts.bsc", "charts.exchange", "charts.matic", "charts.avalanche"]],
  ["flares.pro", ["flares.pro"]],
  ["status", ["status"]],
  ["flares.exchange.*", ["flares.exchange.free", "flares.exchange.pro", "flares.exchange.finished"]],
  ["flares.matic.pro", ["flares.matic.pro"]],
])("[W44] the pattern %s selects its channels", (pattern, channels) => {
  expect(matchChannels(pattern)).toEqual(channels);
});

test.each([
  "",
  ".",
  ".*",
  "**",
  "flares",
  "flares.",
  "flares.exchange",
  "flares.exchange.",
  "flares.bsc.*",
  "flares.*.*",
  "flares.*.pro",
  "flares*",
  "flare.*",
  "status.*",
  "FLARES.PRO",
  " flares.pro",
  "constructor",
  "__proto__",
])("the pattern %j selects nothing", (pattern) => {
  expect(matchChannels(pattern)).toEqual([]);
});

test("isChannel accepts exactly the channel names, with their case", () => {
  expect(CHANNELS.every(isChannel)).toBe(true);
  expect(["toString", "flares", "flares.Pro"].some(isChannel)).toBe(false);
});

test("close codes are unique", () => {
  const codes = Object.values(CLOSE_CODES).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
});
