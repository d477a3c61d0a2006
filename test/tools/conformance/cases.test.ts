import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { Step } from "./case-format.ts";
import { isObject, parseJson } from "./json.ts";
import { match } from "./match.ts";
import { loadCases, loadNotTried } from "./suite.ts";

const DOCUMENTS = ["PROTOCOL.md", "KEYS.md"].map(
  (name) => new URL(`../../../src/base/protocol/${name}`, import.meta.url),
);
const DOCUMENT = (await Promise.all(DOCUMENTS.map((url) => readFile(url, "utf8")))).join("\n");
const README = await readFile(new URL("README.md", import.meta.url), "utf8");
const NUMBERED = /^[A-Z]\d+$/;

test("every rule of the documents has a case or a reason why not, and cases name only existing rules", async () => {
  const rules = [...DOCUMENT.matchAll(/^\* \*\*\[([WSPTFK]\d+)\]\*\*/gm)].map(([, rule]) => rule);
  const cases = await loadCases();
  const tried = new Set(
    cases.flatMap(({ rules: own, steps }) => [...own, ...steps.flatMap((step) => step.rules ?? [])]),
  );
  const left = Object.keys(await loadNotTried());
  expect(left.filter((rule) => tried.has(rule))).toEqual([]);
  const named = [...tried].filter((rule) => NUMBERED.test(rule));
  expect([...named, ...left].toSorted()).toEqual(rules.toSorted());
});

test("the names of the cases are unique", async () => {
  const names = (await loadCases()).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(50);
  expect(new Set(names).size).toBe(names.length);
});

test("the README describes every kind of step and every matcher in use", async () => {
  const rows = [...README.matchAll(/^\| ((?:`[a-z]+`(?:, )?)+) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([a-z]+)`/g)].map(([, name]) => name),
  );
  const kinds = Step.options.map(({ shape }) => shape.do.value);
  expect(rows.filter((name) => name !== "do").toSorted()).toEqual(kinds.toSorted());
  const shapes = await readFile(new URL("shapes.json", import.meta.url), "utf8");
  const used = new Set(`${shapes}${JSON.stringify(await loadCases())}`.match(/"\$[a-z]+"(?=:)/g));
  for (const name of used)
    expect(README, name).toContain(`\`${name.replaceAll('"', "")}\``.replace("`$sum`", "$sum"));
});

test.each<[unknown, unknown, string | undefined]>([
  [{ a: 1 }, { a: 1, b: 2 }, undefined],
  [{ a: 1 }, { a: 2 }, "/a"],
  [{ a: { b: null } }, { a: {} }, "/a/b"],
  [[1], [1, 2], ""],
  [{ $each: { $type: "integer" } }, [1, 2.5], "/1"],
  [{ $type: "string|null" }, null, undefined],
  [{ $type: "number" }, 3, undefined],
  [{ $type: "object" }, [], ""],
  [{ $values: { $min: 1 } }, { x: 0 }, "/x"],
  [{ $least: 1, $most: 2 }, [1, 2, 3], ""],
  [{ a: { $absent: true } }, {}, undefined],
  [{ a: { $absent: true } }, { a: null }, "/a"],
  [{ a: { $any: true } }, {}, "/a"],
  [{ a: { $optional: { $pattern: "^x" } } }, { a: "y" }, "/a"],
  [{ $either: [null, { $pattern: "^\\d+$" }] }, "12", undefined],
  [{ $all: [{ $min: 1 }, { $max: 3 }] }, 4, ""],
  [{ $not: "a" }, "a", ""],
  [{ $has: "a" }, ["b"], ""],
  [{ $in: ["a", "b"] }, "c", ""],
  [{ $shape: "thing" }, { id: 1 }, "/id"],
])("%j of %j: the first mismatch is at %j", (matcher, value, path) => {
  expect(match(matcher, value, { thing: { id: { $type: "string" } } })?.path).toBe(path);
});

test("an invalid matcher throws RangeError, because the case is wrong and not the server", () => {
  expect(() => match({ $like: 1 }, 1, {})).toThrow(RangeError);
  expect(() => match({ $shape: "no" }, 1, {})).toThrow(RangeError);
  expect(isObject(parseJson("{"))).toBe(false);
});
