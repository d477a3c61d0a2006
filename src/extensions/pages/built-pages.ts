import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { Representation, versionOf } from "../../gateway/http/index.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
};

/**
 * Reads the built files of known types, by path relative to the part's directory. Empty if they
 * were not built.
 */
export function readBuilt(part: "dashboard" | "widget"): ReadonlyMap<string, Representation> {
  // The same path from src/extensions/pages and from dist/http/pages.
  const directory = new URL(`../../../dist/${part}/`, import.meta.url);
  let names: readonly string[];
  try {
    names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  } catch {
    return new Map();
  }
  return new Map(names.flatMap((name) => readPage(directory, name)));
}

function readPage(directory: URL, name: string): readonly (readonly [string, Representation])[] {
  const type = TYPES[extname(name)];
  if (type === undefined) return [];
  const bytes = readFileSync(new URL(name, directory));
  return [[name.replaceAll("\\", "/"), new Representation(bytes, versionOf(bytes), type)]];
}
