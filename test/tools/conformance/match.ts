import { isObject, type JsonObject, show } from "./json.ts";

/** The first part of a value that violates a matcher. */
interface Mismatch {
  readonly path: string;
  readonly expected: string;
  readonly came: unknown;
}

/** Matchers by name, for `$shape`. */
export type Shapes = JsonObject;

/**
 * Compares a value with a matcher; README.md explains the matchers. Returns `undefined` if it
 * matches. Throws RangeError for an invalid matcher.
 */
export function match(matcher: unknown, value: unknown, shapes: Shapes, path = ""): Mismatch | undefined {
  if (Array.isArray(matcher)) return matchArray(matcher, value, shapes, path);
  if (!isObject(matcher)) {
    return Object.is(matcher, value) ? undefined : { path, expected: show(matcher), came: value };
  }
  const keys = Object.keys(matcher);
  if (keys.length > 0 && keys.every((key) => key.startsWith("$"))) {
    return first(keys, (key) => operate(key, matcher[key], value, shapes, path));
  }
  if (!isObject(value)) return { path, expected: "an object", came: value };
  return first(keys, (key) => {
    const own = Object.hasOwn(value, key) ? value[key] : undefined;
    const expected = matcher[key];
    if (own === undefined && isObject(expected) && ("$optional" in expected || "$absent" in expected)) {
      return undefined;
    }
    return match(expected, own, shapes, `${path}/${key}`);
  });
}

function matchArray(matcher: readonly unknown[], value: unknown, shapes: Shapes, path: string) {
  if (!Array.isArray(value) || value.length !== matcher.length) {
    return { path, expected: `an array of length ${matcher.length}`, came: value };
  }
  return first([...matcher.entries()], ([at, own]) => match(own, value[at], shapes, `${path}/${at}`));
}

function first<T>(items: readonly T[], check: (item: T) => Mismatch | undefined): Mismatch | undefined {
  for (const item of items) {
    const found = check(item);
    if (found) return found;
  }
  return undefined;
}

type Operator = (operand: unknown, value: unknown, shapes: Shapes, path: string) => Mismatch | undefined;

/** Creates an operator from a predicate. */
function simple(word: string, holds: (operand: unknown, value: unknown) => boolean): Operator {
  return (operand, value, _shapes, path) =>
    holds(operand, value) ? undefined : { path, expected: `${word} ${show(operand)}`.trim(), came: value };
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  $type: simple(
    "of type",
    (operand, value) =>
      String(operand).split("|").includes(typeOf(value)) ||
      (String(operand).split("|").includes("number") && typeof value === "number"),
  ),
  $pattern: simple(
    "text that matches",
    (operand, value) => typeof value === "string" && new RegExp(String(operand)).test(value),
  ),
  $min: simple("at least", (operand, value) => typeof value === "number" && value >= Number(operand)),
  $max: simple("at most", (operand, value) => typeof value === "number" && value <= Number(operand)),
  $least: simple(
    "at least this many items:",
    (operand, value) => Array.isArray(value) && value.length >= Number(operand),
  ),
  $most: simple(
    "at most this many items:",
    (operand, value) => Array.isArray(value) && value.length <= Number(operand),
  ),
  $any: simple("any value", (_operand, value) => value !== undefined),
  $absent: simple("no value", (_operand, value) => value === undefined),
  $has: simple(
    "an array that contains",
    (operand, value) => Array.isArray(value) && value.some((item) => show(item) === show(operand)),
  ),
  $in: simple("one of", (operand, value) => Array.isArray(operand) && operand.includes(value)),
  $optional: (operand, value, shapes, path) =>
    value === undefined ? undefined : match(operand, value, shapes, path),
  $not: (operand, value, shapes, path) =>
    match(operand, value, shapes) ? undefined : { path, expected: `not ${show(operand)}`, came: value },
  $either: (operand, value, shapes, path) => {
    const found = listOf(operand).map((one) => match(one, value, shapes, path));
    return found.includes(undefined) ? undefined : found.at(-1);
  },
  $all: (operand, value, shapes, path) => first(listOf(operand), (one) => match(one, value, shapes, path)),
  $shape: (operand, value, shapes, path) => {
    const shape = shapes[String(operand)];
    if (shape === undefined) throw new RangeError(`unknown shape "${operand}"`);
    return match(shape, value, shapes, path);
  },
  $each: (operand, value, shapes, path) => {
    if (!Array.isArray(value)) return { path, expected: "an array", came: value };
    return first([...value.entries()], ([at, item]) => match(operand, item, shapes, `${path}/${at}`));
  },
  $values: (operand, value, shapes, path) => {
    if (!isObject(value)) return { path, expected: "an object", came: value };
    return first(Object.entries(value), ([key, item]) => match(operand, item, shapes, `${path}/${key}`));
  },
};

function operate(key: string, operand: unknown, value: unknown, shapes: Shapes, path: string) {
  const operator = OPERATORS[key];
  if (!operator) throw new RangeError(`unknown matcher "${key}"`);
  return operator(operand, value, shapes, path);
}

function listOf(operand: unknown): readonly unknown[] {
  if (Array.isArray(operand)) return operand;
  throw new RangeError(`expected an array of matchers, got ${show(operand)}`);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" && Number.isInteger(value)) return "integer";
  return typeof value;
}
