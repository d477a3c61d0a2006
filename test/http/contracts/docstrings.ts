import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/*
 * The contracts describe each schema and field in the words of its docstring. At run time those are gone, so they are kept in a file that
 * is made from them: `npm run describe`. A test makes it again and compares.
 */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The file that is made. */
export const DESCRIPTIONS_FILE = `${ROOT}src/http/contracts/descriptions.ts`;

/** Where the schemas are. */
const SOURCES = [
  ...["model", "protocol"].flatMap((room) =>
    readdirSync(`${ROOT}src/${room}`, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith("index.ts"))
      .map((name) => `src/${room}/${name}`),
  ),
  "src/http/rest/responses.ts",
].toSorted();

/** A line at which a statement, or its docstring, begins. */
const STATEMENT = /^(?=\/\*|export |const |function |import )/m;
const FIELD = /^( +)\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n +(\w+)\b/gm;

/** The text of the file as it has to be. */
export function describe(): string {
  const described = new Map<string, string>();
  for (const file of SOURCES) {
    const text = readFileSync(`${ROOT}${file}`, "utf8");
    for (const [name, words] of describeFile(text)) described.set(name, words);
  }
  const entries = [...described].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lines = entries.map(([name, words]) => `  ${JSON.stringify(name)}: ${JSON.stringify(words)},`);
  const made = [
    "/** What each schema, and each of its fields, means: the words of its docstring. Made by `npm run describe`; do not edit. */",
    "export const DESCRIPTIONS: Readonly<Record<string, string>> = {",
    ...lines,
    "};",
    "",
  ].join("\n");
  return execFileSync(`${ROOT}node_modules/.bin/biome`, ["format", "--stdin-file-path=descriptions.ts"], {
    cwd: ROOT,
    input: made,
    encoding: "utf8",
  });
}

/** By name of a schema, and by `Schema.field`, its docstring on one line. */
function describeFile(text: string): ReadonlyMap<string, string> {
  const described = new Map<string, string>();
  const inherited = new Map<string, ReadonlyMap<string, string>>();
  const take = (doc: string | undefined, exported: boolean, name: string, body: string) => {
    const fields = new Map<string, string>();
    for (const [other, theirs] of inherited) {
      if (new RegExp(`\\b${other}\\b`).test(body))
        for (const [field, words] of theirs) fields.set(field, words);
    }
    for (const [field, words] of fieldsOf(body)) fields.set(field, words);
    if (!exported) inherited.set(name, fields);
    else if (/^\w+ = (z\b|event\(|\w+;?$)/.test(`${name}${body}`.replace(/\s+/g, " "))) {
      if (doc) described.set(name, plain(doc));
      for (const [field, words] of fields) described.set(`${name}.${field}`, words);
    }
  };
  let doc: string | undefined;
  for (const statement of text.split(STATEMENT)) {
    const [, exported, name, body] = /^(export )?(?:const|function) (\w+)([\s\S]*)$/.exec(statement) ?? [];
    if (name !== undefined && body !== undefined) take(doc, exported !== undefined, name, body);
    doc = /^\/\*\*([\s\S]*)\*\/\s*$/.exec(statement)?.[1];
  }
  return described;
}

/** The documented fields of the outermost object. */
function fieldsOf(body: string): readonly (readonly [string, string])[] {
  const found = [...body.matchAll(FIELD)];
  const indent = Math.min(...found.map(([, spaces = ""]) => spaces.length));
  return found
    .filter(([, spaces = ""]) => spaces.length === indent)
    .map(([, , doc = "", field = ""]) => [field, plain(doc)]);
}

function plain(doc: string): string {
  return doc
    .replace(/^\s*\* ?/gm, " ")
    .replace(/\{@link (\w+)\}/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}
