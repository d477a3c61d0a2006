import { expect, test } from "vitest";
import { EMPTY_SNAPSHOT } from "../../src/model/index.ts";
import {
  CHANNELS,
  CLOSE_CODES,
  closeAction,
  isChannel,
  LIST_CHANNEL_NAMES,
  LIST_CHANNELS,
  listPathOf,
  matchChannels,
} from "../../src/protocol/index.ts";

test("every list of the snapshot has exactly one channel", () => {
  const places = Object.values(LIST_CHANNELS).map((place) => place.join("."));
  const { explanations: _, ...resources } = EMPTY_SNAPSHOT;
  const lists = Object.entries(resources).flatMap(([resource, of]) =>
    Object.keys(of).map((list) => `${resource}.${list}`),
  );
  expect(places.toSorted()).toEqual(lists.toSorted());
});

test("a channel's name says where its list lies", () => {
  for (const channel of LIST_CHANNEL_NAMES) expect(listPathOf(channel)).toEqual(LIST_CHANNELS[channel]);
});

test("all channels are those of the lists, and status", () => {
  expect(CHANNELS).toEqual([...LIST_CHANNEL_NAMES, "status"]);
});

test.each([
  ["*", CHANNELS],
  ["flares.*", ["flares.free", "flares.pro", "flares.finished"]],
  ["newest.*", ["newest.bsc"]],
  ["charts.*", ["charts.bsc", "charts.exchange", "charts.matic", "charts.avalanche"]],
  ["flares.pro", ["flares.pro"]],
  ["status", ["status"]],
])("the pattern %s selects its channels", (pattern, channels) => {
  expect(matchChannels(pattern)).toEqual(channels);
});

test.each([
  "",
  ".",
  ".*",
  "**",
  "flares",
  "flares.",
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

test("a name is a channel only as it is written", () => {
  expect(CHANNELS.every(isChannel)).toBe(true);
  expect(["toString", "flares", "flares.Pro"].some(isChannel)).toBe(false);
});

test("the range of each close code says what its action is", () => {
  const ranges = { stop: 4_000, backoff: 4_100, resume: 4_200 };
  for (const [reason, { code, action }] of Object.entries(CLOSE_CODES)) {
    expect(closeAction(code), reason).toBe(action);
    if (code !== 1_001) expect(Math.floor(code / 100) * 100, reason).toBe(ranges[action]);
  }
});

test("no two close codes are the same number", () => {
  const codes = Object.values(CLOSE_CODES).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
});

test.each([
  [3_999, "backoff"],
  [4_000, "stop"],
  [4_099, "stop"],
  [4_100, "backoff"],
  [4_199, "backoff"],
  [4_200, "resume"],
  [4_299, "resume"],
  [4_300, "backoff"],
  [1_000, "backoff"],
  [1_006, "backoff"],
])("after a close with %d a client should %s", (code, action) => {
  expect(closeAction(code)).toBe(action);
});
