import { readFile, stat } from "node:fs/promises";
import { InputError } from "../input-error.ts";
import { firstIssue } from "../text/first-issue.ts";
import { messageOf } from "../text/message-of.ts";
import { suggestion } from "../text/nearest.ts";

/** An issue that a schema reports, as in zod. */
interface JsonIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  /** What would be valid. For unknown keys, those of {@link expectedInWords}. */
  readonly message: string;
  /** Unknown keys of an object. */
  readonly keys?: readonly string[] | undefined;
}

/** How to describe an issue without revealing secrets. */
interface IssueWords {
  /** Keys whose values, if they are no objects, are shown. Of others, only the type is. */
  readonly harmless: ReadonlySet<string>;
  /** Removes misplaced secrets from an unknown key or a value that is shown. */
  readonly hide?: (text: string) => string;
}

/** Maximum length of a quoted value. */
const MAX_QUOTED = 64;
/** Maximum length of the text in which secrets are sought. Longer than most tokens. */
const MAX_SEARCHED = 4_096;

/** Write permission for users other than the owner and the group. */
const OTHERS_WRITE = 0o002;

export const NO_FILE = "there is no such file";

/**
 * Reads a regular file of limited size that only its owner and group can write: a pipe may never
 * end, and a file that anybody can change must not control access. Rejects with InputError.
 */
export async function readTrustedText(file: string, maxBytes: number): Promise<string> {
  try {
    const about = await stat(file);
    if (!about.isFile()) throw new InputError(file, "it is not a regular file");
    if (about.size > maxBytes)
      throw new InputError(file, `it has ${about.size} bytes; the limit is ${maxBytes}`);
    // Windows has no such permissions, and Node invents some.
    if (about.mode & OTHERS_WRITE && process.platform !== "win32") {
      const mode = (about.mode & 0o777).toString(8);
      throw new InputError(
        file,
        `any user on this machine can write to it (mode 0${mode}); run chmod 600 ${file} and check its contents`,
      );
    }
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof InputError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const message = code === "ENOENT" ? NO_FILE : `it cannot be read (${code})`;
    throw new InputError(file, message, { cause: error });
  }
}

/** Parses a file's JSON. Throws InputError with the expected `form`, and quotes no secrets. */
export function parseJsonText(text: string, file: string, form: string): unknown {
  const json = text.replace(/^\uFEFF/, "");
  let message: string;
  try {
    return JSON.parse(json);
  } catch (error) {
    message = messageOf(error);
  }
  const what = json.trim() === "" ? "it is empty" : `it is not JSON (${placeOf(json, message)})`;
  // Without the cause, because V8's message may quote a secret.
  throw new InputError(file, `${what}; it must be ${form}`);
}

/** Returns the place and kind of a mistake, as in `line 3, column 5: Unexpected character`. */
function placeOf(json: string, message: string): string {
  const isCut = message === "Unexpected end of JSON input";
  // V8 quotes the text around an unexpected token instead of stating its position.
  const [, kind = isCut ? message : "Unexpected character", end = isCut ? json.length : unexpectedIn(json)] =
    /^([^"]+?)(?: in JSON| after JSON)? at position (\d+)/.exec(message) ?? [];
  const lines = json.slice(0, Number(end)).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}: ${kind}`;
}

/**
 * Returns the position of an unexpected token, in one pass: where a value must start and none does,
 * or of a wrong escape. V8 would have reported any other mistake before it.
 */
function unexpectedIn(json: string): number {
  let before = ",";
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const char = json.charAt(at);
    if (isText) {
      if (char === "\\") {
        at += 1;
        if (!'"\\/bfnrtu'.includes(json.charAt(at))) return at;
      } else if (char === '"') isText = false;
    } else if (!" \t\r\n".includes(char)) {
      const isEmptyList = before === "[" && char === "]";
      if ("[:,".includes(before) && !isEmptyList && !startsValue(json, at)) return at;
      isText = char === '"';
      before = char;
    }
  }
  return json.length;
}

function startsValue(json: string, at: number): boolean {
  return (
    '"[{-0123456789'.includes(json.charAt(at)) ||
    ["true", "false", "null"].some((word) => json.startsWith(word, at))
  );
}

/** The schema library's raw issue, for schemas without messages of their own. */
interface RawIssue {
  readonly code?: string | undefined;
  readonly expected?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly values?: unknown;
  readonly keys?: readonly string[] | undefined;
  /** The schema. That of an object has its keys in `shape`. */
  readonly inst?: unknown;
}

const FORMS: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  string: "a text",
};

/** Describes the expected value, for schemas without messages of their own. */
export function expectedInWords(issue: RawIssue): string {
  const { code, expected, minimum, maximum, values, keys: [key = ""] = [], inst } = issue;
  switch (code) {
    case "unrecognized_keys": {
      const shape = Object(Object(inst).shape);
      const known = Object.keys(shape);
      const home = known.find((name) => Object.hasOwn(Object(shape[name].def?.innerType?.shape), key));
      const advice = home === undefined ? suggestion(key, known) : ` (it belongs in ${home})`;
      return `${advice}; known keys: ${known.join(", ")}`;
    }
    case "invalid_type":
      return FORMS[String(expected)] ?? "another value";
    case "too_small":
      return `at least ${String(minimum)}`;
    case "too_big":
      return `at most ${String(maximum)}`;
    case "invalid_value":
      return Array.isArray(values) ? `one of ${values.join(", ")}` : "another value";
    default:
      return "another value";
  }
}

/**
 * Describes an issue: the field, its value or type, and the expected value. Prefers an unknown key
 * of the same object, because a misspelled one is also missing.
 */
export function describeIssue(
  issues: readonly JsonIssue[],
  content: unknown,
  { harmless, hide = (text) => text }: IssueWords,
): string {
  const [first = { path: [], message: "another value" }] = issues;
  const object = first.path.slice(0, -1).join();
  const misspelled = first.keys ? first : issues.find(({ keys, path }) => keys && path.join() === object);
  const issue = misspelled ?? first;
  const { path, keys, message } = issue;
  const shorten = (text: string) => hide(text.slice(0, MAX_SEARCHED)).slice(0, MAX_QUOTED);
  const segments = path.map((part) => (isIndex(part) ? `[${String(part)}]` : `.${String(part)}`));
  const field = segments.join("").replace(/^\./, "") || "the file";
  if (keys) return `unknown key ${JSON.stringify(shorten(String(keys[0])))} in ${field}${message}`;
  const { found: value } = firstIssue({ issues: [issue] }, content);
  const key = path.findLast((part) => !isIndex(part));
  const isShown = isPlain(value) && harmless.has(String(key));
  const shown = isShown ? shorten(JSON.stringify(value)) : withoutValue(value, issue);
  return `${field} is ${shown}; it must be ${message}`;
}

function isIndex(part: PropertyKey): boolean {
  return /^\d+$/.test(String(part));
}

/** Returns true for a scalar, or a list of scalars. */
function isPlain(value: unknown): boolean {
  return value !== undefined && [value].flat().every((part) => part === null || typeof part !== "object");
}

/** Describes a value that may be a secret. */
function withoutValue(value: unknown, { code }: JsonIssue): string {
  if (value === undefined) return "missing";
  const text = JSON.stringify(value);
  if (/^(\[\]|\{\}|true|false|null)$/.test(text)) return text;
  if (typeof value === "string" && code !== "invalid_type") return "malformed";
  return FORMS[Array.isArray(value) ? "array" : typeof value] ?? "another value";
}
