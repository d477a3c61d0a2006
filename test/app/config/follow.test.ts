import { expect, test } from "vitest";
import { createConfig, leaderOf, loadConfig } from "../../../src/app/config/config.ts";

const load = (...args: string[]) => loadConfig({ args }).config;
const LEADER = "follow:https://flares.example.org/base";

test("follow: before a gateway's URL makes that gateway the leader, without a trailing slash", () => {
  const config = load("--source", `${LEADER}/`);
  expect(config.source).toBe(LEADER);
  expect(leaderOf(config)).toBe("https://flares.example.org/base");
  expect(leaderOf(createConfig({ source: "https://flares.example.org" }))).toBeUndefined();
  expect(leaderOf(createConfig())).toBeUndefined();
});

test.each(["follow:", "follow:x.example", "follow:ftp://x.example", "follow:follow:http://x.example"])(
  "%s is rejected with the accepted values",
  (source) => {
    expect(() => load("--source", source)).toThrow(
      /must be engine, an http:\/\/ or https:\/\/ URL .*, or follow: with such a URL, for example/,
    );
  },
);

test("a password in the address of a leader is not shown", () => {
  expect(() => load("--source", "follow:http://me:hunter2@x.example")).toThrow(
    /^(?![\s\S]*hunter2)[\s\S]*source = "\*\*\*@x\.example"/,
  );
});

test.each([
  [["--poll-interval", "5s"], "pollInterval (flag --poll-interval) has no effect with source"],
  [["--upstream-timeout", "2s"], "upstreamTimeout (flag --upstream-timeout) has no effect with source"],
  [["--feed", "replay"], "feed (flag --feed) has no effect with source"],
])("%j is rejected with a leader, because it would have no effect", (args, message) => {
  expect(() => load("--source", LEADER, ...args)).toThrow(message);
});

test("with a leader, pollInterval does not limit staleAfter", () => {
  expect(load("--source", LEADER, "--stale-after", "1s").staleAfterMs).toBe(1_000);
});
