import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import {
  actionAfter,
  CHANNELS,
  CLOSE_CODES,
  Command,
  channelsOfPlan,
  ERROR_CODES,
  Filter,
  isListChannel,
  PLANS,
  ServerMessage,
} from "../../../src/base/protocol/index.ts";
import { TICKET_MS, TICKETS_OF_KEY } from "../../../src/gateway/keys/index.ts";
import { checkMessage } from "../../support/expect/contract.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const OPERATING = readFileSync(new URL("../../../src/gateway/OPERATING.md", import.meta.url), "utf8");
const DOCUMENT = ["PROTOCOL.md", "KEYS.md", "CODES.md"]
  .map((name) => readFileSync(new URL(`../../../src/base/protocol/${name}`, import.meta.url), "utf8"))
  .join("\n");

/** The rows of the first table under this heading, as cells. */
function table(heading: string): readonly (readonly string[])[] {
  const section = DOCUMENT.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

test("the document's table of close codes matches the code", () => {
  const coded = Object.entries(CLOSE_CODES).map(([reason, { code, meaning }]) => [
    `${code}`,
    `\`${reason}\``,
    actionAfter(code),
    meaning,
  ]);
  expect(table("Close codes")).toEqual(coded);
});

test("the document's table of errors matches the code", () => {
  const coded = Object.entries(ERROR_CODES).map(([code, { status, meaning }]) => [
    `\`${code}\``,
    `${status}`,
    actionAfter(status),
    meaning,
  ]);
  expect(table("Errors")).toEqual(coded);
});

test("the table of messages lists the types and directions of the schemas", () => {
  const toServer = Command.options.map((option) => option.shape.type.value);
  const documented = table("Messages").map(([type = "", direction = ""]) => `${type} ${direction}`);
  const answered = [
    "hello",
    "subscribed",
    "unsubscribed",
    "event",
    "heartbeat",
    "pong",
    "error",
    "goaway",
    "missed",
    "conflated",
    "part",
  ];
  const expected = [
    ...toServer.map((type) => `\`${type}\` client → server`),
    ...answered.map((type) => `\`${type}\` server → client`),
  ];
  expect(documented.toSorted()).toEqual(expected.toSorted());
  const known = answered.filter((type) =>
    JSON.stringify(ServerMessage.toJSONSchema()).includes(`"const":"${type}"`),
  );
  expect(known).toEqual(answered);
});

test("the documents' table of plans and limits of tickets match the code", () => {
  const coded = PLANS.map((plan) => {
    const lacks = CHANNELS.filter((channel) => !channelsOfPlan(plan).includes(channel));
    const names = lacks.map((name) => `\`${name}\``).join(", ");
    const lists = lacks.filter(isListChannel).map((name) => `\`${name}\` is \`[]\``);
    const cells = lacks.length > 0 ? [`all but ${names}`, lists.join(", ")] : ["all", "all"];
    return [`\`${plan}\``, ...cells];
  });
  expect(table("Plans")).toEqual(coded);
  expect(DOCUMENT).toContain(`${TICKETS_OF_KEY} unused tickets`);
  const tickets = OPERATING.split("\n").filter((line) => /ticket/i.test(line));
  expect(tickets.join("\n")).toContain(`${TICKET_MS / 1_000} seconds`);
});

test("every line of the transcripts is a valid message in its direction", () => {
  const transcripts = [...DOCUMENT.matchAll(/```transcript\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");
  const lines = transcripts.flatMap((text) => text.trim().split("\n"));
  expect(lines.length).toBeGreaterThan(8);
  for (const line of lines)
    checkMessage(JSON.parse(line.slice(3)), line.startsWith("C: ") ? "client" : "server");
});

test("every JSON message in the document is valid, and its filter example has every field of a filter", () => {
  const blocks = [...DOCUMENT.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");
  const messages = blocks.flatMap((text) => text.trim().split("\n")).map((line) => JSON.parse(line));
  expect(messages.length).toBeGreaterThan(2);
  for (const message of messages) checkMessage(message);
  const written = /`(\{"tokens":[^`]+\})`/.exec(DOCUMENT)?.[1]?.replace("0x55d3…", "0x55d3") ?? "";
  expect(Filter.parse(JSON.parse(written))).toEqual(JSON.parse(written));
  expect(Object.keys(JSON.parse(written))).toEqual(Object.keys(Filter.shape));
  const fences = [...DOCUMENT.matchAll(/^```(\w*)\n[\s\S]*?^```$/gm)].map(([, kind]) => kind);
  expect(new Set(fences)).toEqual(new Set(["json", "transcript"]));
});

test("every rule of the document is named by a test, and tests name no others", () => {
  const rules = [...DOCUMENT.matchAll(/^\* \*\*\[([WSPFK]\d+)\]\*\*/gm)].map((match) => match[1] ?? "");
  expect(new Set(rules).size).toBe(rules.length);
  const tests = globSync("test/**/*.test.ts", { cwd: ROOT }).map((file) =>
    readFileSync(`${ROOT}${file}`, "utf8"),
  );
  const named = tests.flatMap((text) =>
    [...text.matchAll(/\[([WSPFK]\d+)\]/g)].map((match) => match[1] ?? ""),
  );
  expect([...new Set(named)].toSorted()).toEqual(rules.toSorted());
});
