import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { jsonEqual, ownField } from "../../../src/base/lib/json-equal.ts";
import { notifyLog } from "../../../src/base/lib/notify.ts";
import { parseJson } from "../../../src/base/lib/parse-json.ts";
import { reuseIfEqual, reuseListIfSame, reuseRecordIfSame } from "../../../src/base/lib/reuse.ts";
import { escapeHtml } from "../../../src/base/lib/text/escape-html.ts";
import { firstIssue } from "../../../src/base/lib/text/first-issue.ts";
import { messageOf } from "../../../src/base/lib/text/message-of.ts";
import { flarePath, tokenPath } from "../../../src/base/lib/text/page-path.ts";
import { untilAborted, whenAborted } from "../../../src/base/lib/time/until-aborted.ts";
import { fieldOf, isRecord, sanitize } from "../../../src/base/lib/untrusted-json.ts";

/** The JSON text with sorted keys: equal for equal values. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

const small = fc.jsonValue({ maxDepth: 2, depthSize: "small" });

test("two values are equal exactly if their JSON with sorted keys is", () => {
  const near = fc.constantFrom(
    null,
    0,
    "",
    false,
    [],
    {},
    [1],
    [1, 2],
    { a: 1 },
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { 0: 1 },
  );
  fc.assert(
    fc.property(fc.oneof(small, near), fc.oneof(small, near), (a, b) => {
      expect(jsonEqual(a, b)).toBe(canonical(a) === canonical(b));
      expect(jsonEqual(a, JSON.parse(canonical(a)))).toBe(true);
    }),
    {
      examples: [
        [[1], { 0: 1 }],
        [{ 0: 1 }, [1]],
        [{}, []],
        [null, {}],
      ],
      numRuns: 300,
    },
  );
});

test("a field without value counts as absent, and a field of the prototype as none", () => {
  expect(jsonEqual({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(jsonEqual({ a: 1 }, { a: 1, b: undefined })).toBe(true);
  expect(jsonEqual({ a: undefined, c: 1 }, { b: undefined, c: 1 })).toBe(true);
  expect(jsonEqual({ a: undefined, c: 1 }, { b: 2, c: 1 })).toBe(false);
  expect(jsonEqual(-0, 0)).toBe(true);
  const odd = JSON.parse('{"__proto__": 1}');
  expect(jsonEqual(odd, {})).toBe(false);
  expect([ownField(odd, "__proto__"), ownField({}, "constructor")]).toEqual([1, undefined]);
  expect([fieldOf({ a: 1 }, "a"), fieldOf({}, "toString"), fieldOf([1], "0"), fieldOf(null, "a")]).toEqual([
    1,
    ...Array(3),
  ]);
});

test("the object before is kept exactly if nothing differs", () => {
  const [one, other] = [{ a: 1 }, { a: 1 }];
  const list = [one];
  expect(reuseIfEqual<object>(one, other)).toBe(one);
  expect(reuseIfEqual<object>(undefined, other)).toBe(other);
  expect(reuseListIfSame(list, [one])).toBe(list);
  for (const after of [[other], [], [one, one]]) expect(reuseListIfSame(list, after)).toBe(after);
  const record = { a: one, b: other };
  expect(reuseRecordIfSame(record, { b: other, a: one })).toBe(record);
  for (const after of [{ a: one }, { a: one, b: one }, { a: one, b: other, c: one }, { a: one, c: other }])
    expect(reuseRecordIfSame<object>(record, after)).toBe(after);
  const fresh = {};
  expect(reuseRecordIfSame(undefined, fresh)).toBe(fresh);
});

/** Returns a list in lists, `levels` deep. */
const deep = (levels: number): unknown => (levels === 1 ? [] : [deep(levels - 1)]);

test("an untrusted value is usable up to each bound, and not beyond", () => {
  const bounds = { levels: 3, characters: 40 };
  const SMALL: readonly (readonly [unknown, string | undefined])[] = [
    [deep(3), undefined],
    [deep(4), "is nested deeper than 3 levels"],
    ["x".repeat(40), undefined],
    ["x".repeat(41), "is larger than 40 characters"],
    [{ ["k".repeat(32)]: 1 }, undefined],
    [{ ["k".repeat(33)]: 1 }, "is larger than 40 characters"],
    [Array(7).fill(0), undefined],
    [Array(8).fill(0), "is larger than 40 characters"],
    [JSON.parse("[1e400]"), "contains a number beyond the range of a double"],
    [{ a: JSON.parse("-1e400") }, "contains a number beyond the range of a double"],
    [null, undefined],
  ];
  for (const [value, why] of SMALL) expect(sanitize(value, bounds), JSON.stringify(value)).toBe(why);
  expect([sanitize(deep(32)), sanitize(deep(33))]).toEqual([undefined, "is nested deeper than 32 levels"]);
  expect([sanitize("x".repeat(65_536)), sanitize("x".repeat(65_537))]).toEqual([
    undefined,
    "is larger than 65536 characters",
  ]);
});

test("every __proto__ key is removed, at any depth", () => {
  const value = JSON.parse('{"a": [{"__proto__": {"x": 1}, "b": 2}], "__proto__": 1}');
  expect(sanitize(value)).toBeUndefined();
  expect(JSON.stringify(value)).toBe('{"a":[{"b":2}]}');
});

test("the first issue is described with its field and value", () => {
  const Rule = z.object({ a: z.array(z.object({ b: z.number("a number") })) });
  const value = { a: [{ b: 1 }, { b: "x" }] };
  expect(firstIssue(Rule.safeParse(value).error, value)).toEqual({
    field: "a.1.b",
    found: "x",
    message: "a number",
  });
  expect(firstIssue(Rule.safeParse(7).error, 7)).toMatchObject({ field: "", found: 7 });
  expect(firstIssue(undefined, 7)).toEqual({ field: "", found: 7, message: "another value" });
  expect(firstIssue({ issues: [{ path: ["a", "b"], message: "m" }] }, { a: null }).found).toBeUndefined();
});

test("texts are made safe for markup, paths and messages", () => {
  expect(escapeHtml(`<a href="x" b='y'>&amp;`)).toBe("&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
  expect([flarePath("a/b"), tokenPath("bsc", "0x/1?")]).toEqual(["flare/a%2Fb", "token/bsc/0x%2F1%3F"]);
  expect([messageOf(new Error("why")), messageOf("why"), messageOf(7)]).toEqual(["why", "why", "7"]);
  expect([parseJson("[1]"), parseJson("[1")]).toEqual([[1], undefined]);
});

test("a log line has the facts of its writer, which the line's own override", () => {
  const lines: unknown[] = [];
  const write = (level: string) => (facts: object, message: string) => lines.push([level, facts, message]);
  const notify = notifyLog(
    { info: write("info"), warn: write("warn"), error: write("error") },
    { part: "a", n: 1 },
  );
  notify("warn", "slow", { n: 2 });
  notify("error", "gone");
  expect(lines).toEqual([
    ["warn", { part: "a", n: 2 }, "slow"],
    ["error", { part: "a", n: 1 }, "gone"],
  ]);
});

test("a wait ends with its promise, or with the reason of the signal, and leaves no listener behind", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  expect(await untilAborted(Promise.resolve(7), signal)).toBe(7);
  await expect(untilAborted(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
  const waiting = untilAborted(new Promise(() => undefined), signal);
  const aborted = whenAborted(signal);
  controller.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
  await aborted;
  await whenAborted(signal);
  await expect(untilAborted(Promise.resolve(7), signal)).rejects.toThrow("stopped");
});
