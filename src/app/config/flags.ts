import { parseArgs } from "node:util";
import { suggestion } from "../../base/lib/text/nearest.ts";
import { flagOf } from "../../base/settings/index.ts";
import { goneProblem } from "./gone.ts";
import { redact, redactEndpoints } from "./redact.ts";

/** A flag of a command. Type `boolean`: it is a switch, with a `--no-` form. */
export interface FlagDefinition {
  readonly type: "string" | "boolean";
}

/** A parsed command line. Mistakes are listed in `problems`, one sentence each; nothing throws. */
export interface ParsedFlags {
  /** By flag name without dashes. */
  readonly flags: ReadonlyMap<string, string | boolean>;
  readonly positionals: readonly string[];
  readonly problems: readonly string[];
}

/** Returns a flag's value; `undefined` without the flag, and for a switch. */
export function flagText(flags: ParsedFlags["flags"], name: string): string | undefined {
  const value = flags.get(name);
  return typeof value === "string" ? value : undefined;
}

/**
 * Parses `args` against the known flags and at most `positionals` other words; `--` ends the flags.
 * `meant`: what to write instead of flags that do not exist.
 */
export function parseFlags(
  args: readonly string[],
  definitions: Readonly<Record<string, FlagDefinition>>,
  positionals: number,
  meant: ReadonlyMap<string, string> = new Map(),
): ParsedFlags {
  // Not strict: parseArgs throws at the first mistake, but we report all of them at once.
  const { tokens } = parseArgs({
    args: [...args],
    options: definitions,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const flags = new Map<string, string | boolean>();
  const problems: string[] = [];
  const words: string[] = [];
  const repeated = new Set<string>();
  // A word after an unknown flag was probably meant as its value.
  let valueAt = Number.NaN;
  for (const token of tokens) {
    if (token.kind === "positional" && token.index !== valueAt) words.push(token.value);
    if (token.kind !== "option") continue;
    const read = readFlag(token.name, token.value, token.inlineValue === true, definitions, meant);
    if ("problem" in read) {
      problems.push(read.problem);
      if (!token.inlineValue && !Object.hasOwn(definitions, token.name)) valueAt = token.index + 1;
    } else if (flags.has(read.name)) repeated.add(read.name);
    else flags.set(read.name, read.value);
  }
  for (const name of repeated) problems.push(`--${name} is given twice`);
  if (problems.length === 0) {
    for (const word of words.slice(positionals))
      problems.push(`unexpected argument ${JSON.stringify(hideAddress(word))}`);
  }
  return { flags, positionals: words.slice(0, positionals), problems };
}

/** Hides secrets: a misplaced word may be an address with a key in its path. */
function hideAddress(word: string): string {
  return word.includes("//") ? redactEndpoints(word) : redact(word);
}

type Read = { readonly name: string; readonly value: string | boolean } | { readonly problem: string };

function readFlag(
  given: string,
  value: string | undefined,
  inline: boolean,
  definitions: Readonly<Record<string, FlagDefinition>>,
  meant: ReadonlyMap<string, string>,
): Read {
  const negated = given.startsWith("no-") && !Object.hasOwn(definitions, given);
  const name = negated ? given.slice(3) : given;
  const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (!definition || (negated && definition.type === "string")) {
    const dash = given.length === 1 ? "-" : "--";
    const known = Object.keys(definitions).map((flag) => `--${flag}`);
    const instead = meant.get(given);
    const hint = instead === undefined ? suggestion(`--${given}`, known) : ` (did you mean ${instead}?)`;
    return { problem: goneProblem(`--${given}`) ?? `unknown flag ${dash}${hideAddress(given)}${hint}` };
  }
  if (negated && inline) return { problem: `--${given} takes no value` };
  if (definition.type === "boolean") return { name, value: inline ? (value ?? "") : !negated };
  // parseArgs would take the next word as the value even if it is a flag.
  if (value === undefined || value === "" || (!inline && value.startsWith("--")))
    return { problem: `--${name} needs a value` };
  return { name, value };
}

/** `pollInterval` → `FLAREWIRE_POLL_INTERVAL`. */
export function variableOf(name: string): string {
  return `FLAREWIRE_${flagOf(name).replaceAll("-", "_").toUpperCase()}`;
}
