import { expect, test } from "vitest";
import { createLogger } from "../../../src/app/server/create-logger.ts";

function logTo(isTerminal: boolean) {
  const lines: string[] = [];
  const logger = createLogger("info", { isTerminal, write: (line) => void lines.push(line) });
  return { logger, lines };
}

test("a log line has its time in ISO 8601 and its level by name", () => {
  const { logger, lines } = logTo(false);
  logger.warn({ used: 7 }, "the disk is full");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    ...{ level: "warn", used: 7, msg: "the disk is full", pid: process.pid },
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
});

test("on a terminal a log line is text: time of day, level, message, fields, and the stack of an error", () => {
  const { logger, lines } = logTo(true);
  logger.child({ node: 2 }).error({ err: new Error("no space"), path: "/var/log" }, "cannot write");
  const [head, ...stack] = lines.join("").split("\n");
  expect(head).toMatch(/^\d\d:\d\d:\d\d error cannot write node=2 path=\/var\/log$/);
  expect(stack[0]).toBe("    Error: no space");
  expect(stack[1]).toMatch(/^ {4}at /);
});

test("a client's text reaches a terminal without control characters", () => {
  const { logger, lines } = logTo(true);
  logger.info({ symbol: "\u001B[2J\u009B", "\u001B]0;x": 1 }, "listed \u001B[31mred");
  expect(lines.join("").trimEnd()).not.toMatch(/\p{Cc}/u);
  expect(lines.join("")).toContain("listed \uFFFD[31mred");
});

test("a JSON log line has no control or format characters, and parses to the original values", () => {
  const { logger, lines } = logTo(false);
  const name = "desk\u001B[2J\u009B2J\u007F\u202E\u2028Zürich";
  logger.info({ name }, "admitted a client");
  const [line = ""] = lines;
  expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(line).toMatch(/Zürich.*\n$/);
  expect(JSON.parse(line)).toMatchObject({ name, msg: "admitted a client" });
});
