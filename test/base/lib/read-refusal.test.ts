import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { problemDetail, readRefusal } from "../../../src/base/lib/io/read-refusal.ts";

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

/** Returns a response of these chunks; the last one may be an error. */
function answer(chunks: readonly (string | Error)[], retryAfter?: string) {
  async function* body() {
    for (const chunk of chunks) {
      if (chunk instanceof Error) throw chunk;
      yield Buffer.from(chunk);
    }
  }
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  return Object.assign(Readable.from(body()), { statusCode: 503, headers }) as never;
}

test("a refusal has its status, what was received of its body, and its delay in milliseconds", async () => {
  expect(await readRefusal(answer(["a", "ä"], "2"))).toEqual({
    status: 503,
    body: "aä",
    retryAfterMs: 2_000,
  });
  expect(await readRefusal(answer(["a", new Error("cut")]))).toEqual({
    status: 503,
    body: "a",
    retryAfterMs: undefined,
  });
  for (const text of ["0", "-1", "Wed, 21 Oct 2026 07:28:00 GMT", "Infinity"])
    expect((await readRefusal(answer([], text))).retryAfterMs).toBeUndefined();
  expect((await readRefusal(answer([], "0.5"))).retryAfterMs).toBe(500);
});

test("a refusal's body is read until it is above 16 KiB", async () => {
  const [at, rest] = ["x".repeat(16_384), "y"];
  expect((await readRefusal(answer([at, rest, "z"]))).body).toBe(at + rest);
});
