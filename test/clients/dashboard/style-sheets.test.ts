import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../../../src/clients/", import.meta.url));

/** Relative paths that a page, a module or a style sheet loads. */
const IMPORTS = /\b(?:href|src)="(\.[^"]+)"|(?:\bfrom|\bimport\(?|@import)\s*"(\.[^"]+)"/g;
/** Removes comments, whose imports do not count. */
const COMMENTS = /<!--[\s\S]*?-->|\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** Adds to `found` the file and all files that it loads, directly or not. */
function follow(file: string, found: Set<string>): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(file, "utf8").replace(COMMENTS, "");
  for (const [, attribute, imported] of text.matchAll(IMPORTS)) {
    const target = join(dirname(file), attribute ?? imported ?? "");
    if (/\.(?:css|tsx?)$/.test(target)) follow(target, found);
  }
  return found;
}

test.for([
  { folder: "dashboard", entries: ["index.html", "widgets.html", "permalink.html"], atLeast: 8 },
  { folder: "widget", entries: ["main.ts"], atLeast: 0 },
])(
  "every style sheet of src/clients/$folder is loaded by one of its entries",
  ({ folder, entries, atLeast }) => {
    const root = join(SRC, folder);
    const sheets = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".css"),
    );
    expect(sheets.length).toBeGreaterThanOrEqual(atLeast);
    const loaded = new Set<string>();
    for (const entry of entries) follow(join(root, entry), loaded);
    expect(loaded.size).toBeGreaterThan(entries.length);
    expect(sheets.filter((sheet) => !loaded.has(join(root, sheet)))).toEqual([]);
  },
);
