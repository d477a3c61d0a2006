import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { InputError } from "../../../src/base/lib/input-error.ts";
import {
  describeIssue,
  expectedInWords,
  parseJsonText,
  readTrustedText,
} from "../../../src/base/lib/io/json-file.ts";

const PLACE = mkdtempSync(join(tmpdir(), "flarewire-json-"));

function write(name: string, text: string, mode = 0o600): string {
  const path = join(PLACE, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

/** Returns the problem of a file, without its name. */
async function problemOf(work: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await work());
  } catch (error) {
    return error instanceof InputError ? error.reason : "another error";
  }
}

test("a trusted file is read up to its limit, if only its owner and group can write it", async () => {
  const reason = (path: string, max = 4) => problemOf(() => readTrustedText(path, max));
  expect(await reason(write("whole", "1234"))).toBe('"1234"');
  expect(await reason(write("long", "12345"))).toBe("it has 5 bytes; the limit is 4");
  expect(await reason(write("group", "1234", 0o660))).toBe('"1234"');
  expect(await reason(write("open", "1234", 0o602))).toMatch(
    /^any user .*\(mode 0602\); run chmod 600 .*open/,
  );
  expect(await reason(join(PLACE, "no"))).toBe("there is no such file");
  expect(await reason(PLACE)).toBe("it is not a regular file");
  expect(await reason(join(write("part", "1"), "below"))).toBe("it cannot be read (ENOTDIR)");
});

const MISTAKES: readonly (readonly [text: string, problem: string])[] = [
  ["", "it is empty"],
  [" \n", "it is empty"],
  ['{"a":1', "it is not JSON (line 1, column 7: Expected ',' or '}' after property value)"],
  ['{\n "a": x\n}', "it is not JSON (line 2, column 7: Unexpected character)"],
  ["[1,,2]", "it is not JSON (line 1, column 4: Unexpected character)"],
  ['["\\x"]', "it is not JSON (line 1, column 4: "],
  ["[", "it is not JSON (line 1, column 2: Unexpected end of JSON input)"],
  ['{"a": tru}', "it is not JSON (line 1, column 7: Unexpected character)"],
  ['[[], "[,", x]', "it is not JSON (line 1, column 12: Unexpected character)"],
  ['["secret\\"", -x]', "it is not JSON (line 1, column 15: "],
];

test.each(MISTAKES)("the text %j is refused with the place of its mistake", async (text, problem) => {
  const reason = await problemOf(() => parseJsonText(text, "keys.json", "a list of keys"));
  expect(reason.startsWith(problem), reason).toBe(true);
  expect(reason).toMatch(/; it must be a list of keys$/);
  expect(reason).not.toContain("secret");
});

test("a JSON text is read with a byte order mark, and a mistake's error keeps no cause that could quote a secret", () => {
  expect(parseJsonText('\uFEFF{"a":[1]}', "keys.json", "a list")).toEqual({ a: [1] });
  expect(() => parseJsonText("x", "keys.json", "a list")).toThrow(/^keys\.json: it is not JSON/);
  try {
    parseJsonText("x", "keys.json", "a list");
  } catch (error) {
    expect(error instanceof InputError && error.cause).toBeUndefined();
  }
});

const Rule = z.strictObject({
  name: z.string(),
  keys: z.array(
    z.strictObject({ plan: z.enum(["free", "pro"]), secret: z.string().min(8), rate: z.int().min(1).max(5) }),
  ),
  more: z.strictObject({ secret: z.string(), size: z.number() }).optional(),
  on: z.boolean().optional(),
});
const KEY = { plan: "free", secret: "12345678", rate: 1 };

/** What is said about each wrong value: harmless ones are shown, all others only by type. */
const ISSUES: readonly (readonly [content: unknown, text: string])[] = [
  [7, "the file is a number; it must be an object"],
  [[], "the file is []; it must be an object"],
  [{ name: 7, keys: [] }, "name is 7; it must be a text"],
  [{ keys: [] }, "name is missing; it must be a text"],
  [{ name: "a", keys: "x" }, "keys is a text; it must be a list"],
  [{ name: "a", keys: [], on: "yes" }, "on is a text; it must be true or false"],
  [{ name: "a", keys: [], on: null }, "on is null; it must be true or false"],
  [{ name: "a", keys: [{ ...KEY, plan: "gold" }] }, 'keys[0].plan is "gold"; it must be one of free, pro'],
  [
    { name: "a", keys: [KEY, { ...KEY, secret: "short" }] },
    "keys[1].secret is malformed; it must be at least 8",
  ],
  [{ name: "a", keys: [{ ...KEY, secret: 12 }] }, "keys[0].secret is a number; it must be a text"],
  [{ name: "a", keys: [{ ...KEY, rate: 6 }] }, "keys[0].rate is 6; it must be at most 5"],
  [{ name: "a", keys: [{ ...KEY, rate: 0 }] }, "keys[0].rate is 0; it must be at least 1"],
  [{ name: "a", keys: [{ ...KEY, rate: 1.5 }] }, "keys[0].rate is 1.5; it must be a whole number"],
  [{ name: "a", keys: [{ ...KEY, rate: { a: 1 } }] }, "keys[0].rate is an object; it must be a number"],
  [{ name: "a", keys: [{ ...KEY, rate: [1, 2] }] }, "keys[0].rate is [1,2]; it must be a number"],
  [
    { nam: "a", keys: [] },
    'unknown key "nam" in the file (did you mean name?); known keys: name, keys, more, on',
  ],
  [
    { name: "a", keys: [{ ...KEY, rates: 2 }] },
    'unknown key "rates" in keys[0] (did you mean rate?); known keys: plan, secret, rate',
  ],
  [
    { name: "a", keys: [], size: 2 },
    'unknown key "size" in the file (it belongs in more); known keys: name, keys, more, on',
  ],
  [{ name: "a", keys: [], more: { secret: 2, size: 1 } }, "more.secret is a number; it must be a text"],
];

test.each(ISSUES)("the value %j is described", (content, text) => {
  const { error } = Rule.safeParse(content, { error: expectedInWords });
  const harmless = new Set(["name", "plan", "rate"]);
  expect(describeIssue(error?.issues ?? [], content, { harmless })).toBe(text);
});

test("a shown value is cut to 64 characters after secrets were hidden in it", () => {
  const content = { name: ["a".repeat(50), "sk-123", "b".repeat(50)] };
  const { error } = Rule.safeParse(content, { error: expectedInWords });
  const hide = (text: string) => text.replaceAll(/sk-\d+/g, "***");
  const said = describeIssue(error?.issues ?? [], content, { harmless: new Set(["name"]), hide });
  expect(said).toBe(
    `name is ${`["${"a".repeat(50)}","***","${"b".repeat(50)}"]`.slice(0, 64)}; it must be a text`,
  );
  expect(describeIssue([], content, { harmless: new Set() })).toBe(
    "the file is an object; it must be another value",
  );
});
