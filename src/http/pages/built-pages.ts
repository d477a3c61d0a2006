import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { Representation, versionOf } from "../rest/representation.ts";

/** A file of the built pages, ready to be served. */
export interface PageFile {
  readonly body: Representation;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
};

/** The same from src/http/pages and from dist/http/pages. */
const BUILT = new URL("../../../dist/dashboard/", import.meta.url);
const BUILT_WIDGET = new URL("../../../dist/widget/", import.meta.url);

/**
 * The dashboard's files by their path below it, `index.html` first among them, as `npm run pages` built them; `widgets.html` is there too. Empty where they were not built, as
 * in a program that runs from a clone without it.
 */
export function readBuiltPages(directory: URL = BUILT): ReadonlyMap<string, PageFile> {
  let names: readonly string[];
  try {
    names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  } catch {
    return new Map();
  }
  return new Map(names.flatMap((name) => readPage(directory, name)));
}

/** The widget's one file, likewise. */
export function readBuiltWidget(): ReadonlyMap<string, PageFile> {
  return readBuiltPages(BUILT_WIDGET);
}

function readPage(directory: URL, name: string): readonly (readonly [string, PageFile])[] {
  const type = TYPES[extname(name)];
  if (type === undefined) return [];
  const bytes = readFileSync(new URL(name, directory));
  return [[name.replaceAll("\\", "/"), { body: new Representation(bytes, versionOf(bytes), type) }]];
}
