import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SMALL_FILES } from "./small-files.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAX_LINES = 400;
const MAX_FILES = 20;
/** Maximum number of files directly in `src`. */
const MAX_LOOSE = 5;
/** A file with fewer lines and a single importer is part of that importer. */
const MIN_LINES = 40;

/** Returns the files in these folders that git does not ignore, relative to the root. */
function filesIn(...folders: readonly string[]): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", ...folders], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return [...new Set(listed.trim().split("\n"))].filter((file) => existsSync(join(ROOT, file)));
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}

/** Returns the files of `src` that import each other one, by path relative to `src`. */
function importersOf(texts: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlySet<string>> {
  const importers = new Map<string, Set<string>>();
  for (const [importer, text] of texts) {
    for (const [, target = ""] of text.matchAll(/\b(?:from|import)\b\s*\(?\s*"(\.[^"]+)"/g)) {
      const file = join(dirname(importer), target);
      importers.set(file, (importers.get(file) ?? new Set()).add(importer));
    }
  }
  return importers;
}

test("the root folder has only the expected files and folders", () => {
  const visible = new Set(filesIn(".").map((file) => file.split("/")[0] ?? ""));
  expect([...visible].filter((name) => name !== "" && !name.startsWith(".")).sort()).toEqual([
    ...["LICENSE", "README.md", "examples", "package-lock.json", "package.json", "src", "test"],
    "tsconfig.json",
  ]);
});

test("no folder of src has more than 20 files, and src itself no more than 5, besides documents", () => {
  const files = filesIn("src");
  const folders = Map.groupBy(
    files.filter((file) => !file.endsWith(".md")),
    dirname,
  );
  expect(files.filter((file) => dirname(file) === "src").length).toBeLessThanOrEqual(MAX_LOOSE);
  const large = [...folders].filter(([, { length }]) => length > MAX_FILES);
  expect(large.map(([folder, { length }]) => `${folder}: ${length} files`)).toEqual([]);
});

test("no source, test or example has more than 400 lines", () => {
  const files = filesIn("src", "test", "examples").filter((file) => /\.(tsx?|css)$/.test(file));
  expect(files.length).toBeGreaterThan(100);
  const long = files.flatMap((file) => {
    const lines = countLines(readFileSync(join(ROOT, file), "utf8"));
    return lines > MAX_LINES ? [`${file}: ${lines} lines`] : [];
  });
  expect(long).toEqual([]);
});

test("a file of under 40 lines has several importers, is exported or is a slice of the settings, except for the listed ones", () => {
  const sources = filesIn("src").filter((file) => /\.tsx?$/.test(file));
  const texts = new Map(
    sources.map((file) => [relative("src", file), readFileSync(join(ROOT, file), "utf8")]),
  );
  const importers = importersOf(texts);
  const small = [...texts].filter(([file, text]) => {
    const by = [...(importers.get(file) ?? [])];
    const isAllowed =
      file.endsWith("-settings.ts") || [file, ...by].some((name) => /\bindex\.ts$/.test(name));
    return by.length === 1 && !isAllowed && countLines(text) < MIN_LINES;
  });
  expect(small.map(([file]) => file).toSorted()).toEqual(SMALL_FILES.toSorted());
});
