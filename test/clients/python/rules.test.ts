import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Rules that no client in Python can break, with the reason. All others have a test here. */
const OF_SERVERS: Readonly<Record<string, string>> = {
  "W5 W7 W10 W11 W12 W19 W20 W21 W22 W30": "about commands: the client sends none; its URL subscribes",
  "W28 W36 W40 W44": "which events a filter, a pattern or an old cursor selects: the server decides",
  W46: "lists in parts: the client reads messages of any length and asks for none",
  "W18 W24": "ping, pong and frames of RFC 6455: aiohttp handles them",
  "W23 W25 W33": "what the server does to slow or many clients; [W26] covers the close codes",
  W37: "compression: the client offers none",
  "W41 W42": "what the market's fields mean",
  "S7 S9": "slow readers and rejections, as over WebSocket",
  "P7 P9 P11 P13": "parameters and methods that the client does not use",
  P14: "what caches may store: the client has none",
  "T1 T2 T3 T4 T5 T6 T7 T8 T9 T10": "past states: the client passes `at` on",
  "K2 K3 K4 K6 K7 K8 K9 K10 K11":
    "plans, tickets and tokens: the client sends a key, and obeys statuses and close codes",
  "F1 F2 F4 F5 F6 F7": "mirrors: the client is not one",
};

test("each rule of the protocol has a test of the Python client, or a reason why it needs none", () => {
  const documents = ["PROTOCOL", "KEYS"].map((name) => readFileSync(`src/base/protocol/${name}.md`, "utf8"));
  const rules = [...documents.join("\n").matchAll(/^\* \*\*\[([A-Z]\d+)\]\*\*/gm)].map(([, rule]) => rule);
  const folder = "test/clients/python/";
  const tests = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  const titles = tests.flatMap((name) => readFileSync(folder + name, "utf8").match(/ test\(".*"/g) ?? []);
  const tested = new Set([...titles.join().matchAll(/\[([WSPTKF]\d+)\]/g)].map(([, rule]) => rule));
  const excused = Object.keys(OF_SERVERS).flatMap((names) => names.split(" "));
  expect([...tested, ...excused].toSorted()).toEqual(rules.toSorted());
});
