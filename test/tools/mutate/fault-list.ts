import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** One small fault that a test has to find. */
export interface Fault {
  /** Name of the fault's list, and its row in the table. */
  readonly folder: string;
  /** Path of the source file, relative to the root of the repository. */
  readonly file: string;
  /** What breaks for a user, in one sentence. */
  readonly breaks: string;
  /** The text to replace. It occurs once in the file, in any indentation. */
  readonly text: string;
  readonly replacement: string;
  /** Test files and folders that have to find it. */
  readonly tests: readonly string[];
  /** Why the fault may survive; `undefined` if a test must find it. */
  readonly accepted: string | undefined;
}

const LISTS = join(import.meta.dirname, "faults");

/** Reads all lists of faults, in the order of their names. */
export function readFaults(): readonly Fault[] {
  return readdirSync(LISTS)
    .filter((name) => name.endsWith(".txt"))
    .toSorted()
    .flatMap((name) => parseFaults(basename(name, ".txt"), readFileSync(join(LISTS, name), "utf8")));
}

/**
 * Parses one list. A line that starts with `#` names a source file, `@` the tests of the faults
 * after it, `-` a line of the text to replace, `+` a line of the replacement, and `?` the reason to
 * accept a survivor. Any other line says what breaks, and starts a fault. A lone `+` removes the
 * text.
 */
export function parseFaults(folder: string, list: string): readonly Fault[] {
  const faults: Fault[] = [];
  let file = "";
  let tests: readonly string[] = [];
  let draft: { breaks: string; text: string[]; replacement: string[]; accepted?: string } | undefined;
  const finish = () => {
    if (!draft) return;
    const { breaks, accepted } = draft;
    const [text, replacement] = [draft.text.join("\n"), draft.replacement.join("\n")];
    draft = undefined;
    if (text === "" || text === replacement || file === "" || tests.length === 0)
      throw new Error(
        `${folder}: "${breaks}" needs a file, tests, a text, and a replacement that differs from the text`,
      );
    faults.push({ folder, file, breaks, text, replacement, tests, accepted });
  };
  for (const line of list.split("\n").filter((one) => one.trim() !== "")) {
    const [mark, rest] = [line.slice(0, 1), line.slice(2)];
    if (mark === "-") draft?.text.push(rest);
    else if (mark === "+") draft?.replacement.push(rest);
    else if (mark === "?" && draft) draft.accepted = rest;
    else {
      finish();
      if (mark === "#") file = rest;
      else if (mark === "@") tests = rest.split(" ");
      else draft = { breaks: line, text: [], replacement: [] };
    }
  }
  finish();
  return faults;
}

/** Returns where the fault's text is in the source. Throws unless it occurs exactly once. */
export function locate(
  { file, text }: Fault,
  source: string,
): { readonly at: number; readonly length: number } {
  const lines = text.split("\n").map((line) => line.trim().replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const found = [...source.matchAll(new RegExp(lines.join("\\s*\\n\\s*"), "g"))];
  const [first] = found;
  if (!first || found.length > 1)
    throw new Error(`stale fault: ${file} has this text ${found.length} times, not once: ${text}`);
  return { at: first.index, length: first[0].length };
}

/** Returns the source with the fault in it. */
export function applyFault(fault: Fault, source: string): string {
  const { at, length } = locate(fault, source);
  return source.slice(0, at) + fault.replacement + source.slice(at + length);
}

/** Returns the `file:line` of the fault. */
export function placeOf(fault: Fault, source: string): string {
  const { at } = locate(fault, source);
  return `${fault.file}:${source.slice(0, at).split("\n").length}`;
}
