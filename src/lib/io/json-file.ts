import { readFile, stat } from "node:fs/promises";
import { InputError } from "../input-error.ts";

/** What a schema has against a content: an issue of zod's, as far as it is told. */
export interface JsonIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Of an object, those that nobody knows. */
  readonly keys?: readonly string[] | undefined;
}

/** How an issue is told without what may not be repeated. */
export interface IssueWords {
  /** The value in words, where it may not be shown as it is: `undefined` shows it. */
  readonly veil?: (name: PropertyKey | undefined) => string | undefined;
  /** Takes secrets out of JSON text. */
  readonly hide?: (text: string) => string;
  /** The keys that an object at this depth has; left out: they are not listed. */
  readonly known?: (depth: number) => readonly string[];
}

/** Most of a value that a message repeats. */
const MAX_QUOTED = 64;

/** Write permission of those who are neither the file's owner nor of its group. */
const OTHERS_WRITE = 0o002;

/**
 * The text of a regular file of at most so many bytes that not everybody can write. Rejects with InputError that says why not: a device or a pipe
 * may have no end, and what anybody can write decides nothing about access.
 */
export async function readTrustedText(file: string, mostBytes: number): Promise<string> {
  try {
    const about = await stat(file);
    if (!about.isFile()) throw new InputError(file, "it is no regular file");
    if (about.size > mostBytes)
      throw new InputError(file, `it has ${about.size} bytes; ${mostBytes} is the most`);
    // Windows has no such permissions, and Node makes some up.
    if (about.mode & OTHERS_WRITE && process.platform !== "win32") {
      const mode = (about.mode & 0o777).toString(8);
      throw new InputError(
        file,
        `everybody on this machine can write it (mode 0${mode}); run chmod 600 ${file}, and check what it holds`,
      );
    }
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof InputError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new InputError(file, `it cannot be read (${code})`, { cause: error });
  }
}

/** The value of a file's JSON text. Throws InputError that says what it has to be (`form`) and quotes nothing: there may be secrets in it. */
export function parseJsonText(text: string, file: string, form: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    const what = text.trim() === "" ? "it is empty" : "it is not JSON";
    throw new InputError(file, `${what}; it must be ${form}`);
  }
}

/** What a schema library reports of a value that a schema has no words of its own for. */
interface RawIssue {
  readonly code?: string | undefined;
  readonly expected?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly values?: unknown;
}

const FORMS: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  string: "a text",
};

/** Puts into words what a value has to be, for schemas that do not say so themselves. */
export function expectedInWords({ code, expected, minimum, maximum, values }: RawIssue): string {
  switch (code) {
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

/** The first issue in words: the field, what it is, and what it has to be. */
export function describeIssue(
  [issue]: readonly JsonIssue[],
  content: unknown,
  { veil, hide = (text) => text, known }: IssueWords,
): string {
  const { path, keys, message } = issue ?? { path: [], message: "another value" };
  const place = path.map((part) => (/^\d+$/.test(String(part)) ? `[${String(part)}]` : `.${String(part)}`));
  const field = place.join("").replace(/^\./, "") || "the file";
  if (keys) {
    const unknown = keys.map((key) => JSON.stringify(hide(key.slice(0, MAX_QUOTED)))).join(", ");
    const there = known ? `; there are ${known(path.length).join(", ")}` : "";
    return `${field} has ${unknown}, which nobody knows${there}`;
  }
  const value = path.reduce<unknown>(
    (part, key) => (typeof part === "object" && part !== null ? Reflect.get(part, key) : undefined),
    content,
  );
  const shown =
    value === undefined
      ? "missing"
      : (veil?.(path.at(-1)) ?? hide(JSON.stringify(value)).slice(0, MAX_QUOTED));
  return `${field} is ${shown}; it must be ${message}`;
}
