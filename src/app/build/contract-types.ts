import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { z } from "zod";
import { typeText } from "./type-text.ts";

const INFERRED = /^export type (\w+) = z\.infer<typeof \1>;$/gm;
/** A schema whose declaration takes several lines. */
const SCHEMA = /(export declare const (\w+): z)\.\w+<.*\n.*/s;

type Module = Readonly<Record<string, unknown>>;

/** The named schemas of all modules, with the module of each. */
type Named = Map<unknown, { readonly name: string; readonly file: string }>;

interface Folders {
  readonly src: string;
  readonly dist: string;
}

/**
 * Returns the declarations of the files `entries` and of their imports. Types that come from
 * schemas are written out, because inferring them costs the compiler seconds. Schemas are opaque
 * (`keep`), or left out (`drop`), so that the declarations need no package. The paths are relative
 * to `dist`.
 */
export async function contractTypes(
  entries: readonly string[],
  { src, dist }: Folders,
  schemas: "keep" | "drop",
): Promise<ReadonlyMap<string, string>> {
  const files = declarationsFrom(entries, dist);
  const named: Named = new Map();
  const modules = new Map<string, Module>();
  for (const [file, text] of files) {
    if (!text.includes('from "zod"')) continue;
    const module: Module = await import(join(src, file.replace(".d.ts", ".ts")));
    modules.set(file, module);
    for (const [, name = ""] of text.matchAll(INFERRED)) {
      const schema = module[name];
      if (schema instanceof z.ZodType && !named.has(schema)) named.set(schema, { name, file });
    }
  }
  return new Map(
    [...files].map(([file, text]) => [file, plain(file, text, modules.get(file) ?? {}, named, schemas)]),
  );
}

/**
 * Returns these declarations and all that they import, directly or indirectly, by path in `dist`.
 */
function declarationsFrom(entries: readonly string[], dist: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const reach = (file: string): void => {
    if (files.has(file)) return;
    const text = readFileSync(join(dist, file), "utf8");
    files.set(file, text);
    for (const [, target = ""] of text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g))
      reach(join(dirname(file), target.replace(/\.[jt]s$/, ".d.ts")));
  };
  for (const entry of entries) reach(entry);
  return files;
}

function plain(file: string, text: string, own: Module, named: Named, schemas: "keep" | "drop"): string {
  const here = dirname(file);
  const nameOf = (schema: unknown) => {
    const found = named.get(schema);
    if (!found) return undefined;
    if (found.file === file) return found.name;
    const path = relative(here, found.file).replace(".d.ts", ".js");
    const module = JSON.stringify(path.startsWith(".") ? path : `./${path}`);
    return `import(${module}).${found.name}`;
  };
  const kept = statementsOf(text).flatMap((statement) => {
    const [[, name = ""] = []] = statement.matchAll(INFERRED);
    const schema = own[name];
    if (schema instanceof z.ZodType) {
      const { description } = schema;
      const comment = description ? `/** ${description} */\n` : "";
      return [`${comment}export type ${name} = ${typeText(schema, nameOf)};`];
    }
    if (!/\bz\.|from "zod"/.test(statement)) return [statement];
    if (schemas === "drop") return [];
    const [, declared = "", constant = ""] = SCHEMA.exec(statement) ?? [];
    const value = own[constant];
    if (!(value instanceof z.ZodType)) return [statement];
    const type = nameOf(value) ?? typeText(value, nameOf);
    return [statement.replace(SCHEMA, `${declared}.ZodType<${type}>;`)];
  });
  return kept.join("\n").replaceAll(/((?:from|import\() ?"\.[^"]+)\.ts"/g, '$1.js"');
}

/** Splits declarations into their statements, each with its comment. */
function statementsOf(text: string): readonly string[] {
  const statements: string[] = [];
  const rest: string[] = [];
  let depth = 0;
  let isComment = false;
  for (const line of text.split("\n")) {
    rest.push(line);
    if (line.startsWith("/**")) isComment = true;
    if (!isComment) {
      for (const [bracket] of line.replaceAll("=>", "").matchAll(/[{[(<>)\]}]/g))
        depth += "{[(".includes(bracket) ? 1 : ")]}".includes(bracket) ? -1 : 0;
      if (depth === 0 && /[;}]$/.test(line)) statements.push(rest.splice(0).join("\n"));
    }
    if (line.endsWith("*/")) isComment = false;
  }
  return statements;
}
