import { expect, test } from "vitest";
import { problemDetail } from "../../../src/base/lib/io/read-refusal.ts";

test.each([
  ['{"detail":"the key is not known","title":"Unauthorized"}', "the key is not known"],
  ['{"title":"Bad Gateway"}', "Bad Gateway"],
  ['{"detail":5,"title":"Bad Gateway"}', "Bad Gateway"],
  ["{}", ""],
  ["null", ""],
  ['"detail"', ""],
  ["<html>Bad Gateway</html>", ""],
  ["", ""],
  [JSON.stringify({ detail: "x".repeat(16_000) }), "x".repeat(300)],
])("the detail of %j is %j", (body, detail) => {
  expect(problemDetail(body)).toBe(detail);
});
