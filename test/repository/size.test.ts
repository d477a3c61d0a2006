import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAX_LINES = 400;
const MAX_FILES = 20;
/** Maximum number of files directly in `src`. */
const MAX_LOOSE = 5;

test("the root folder has only the expected files and folders", () => {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const visible = new Set(files.split("\n").map((file) => file.split("/")[0] ?? ""));
  expect([...visible].filter((name) => name !== "" && !name.startsWith(".")).sort()).toEqual([
    ...["LICENSE", "README.md", "examples", "package-lock.json", "package.json", "src", "test"],
    "tsconfig.json",
  ]);
});

test("no folder of src has more than 20 files, and src itself no more than 5, besides documents", () => {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "src"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const code = [...new Set(files.trim().split("\n"))].filter(
    (file) => !file.endsWith(".md") && existsSync(join(ROOT, file)),
  );
  const folders = Map.groupBy(code, dirname);
  expect(folders.size).toBeGreaterThan(50);
  expect(files.split("\n").filter((file) => /^src\/[^/]+$/.test(file)).length).toBeLessThanOrEqual(MAX_LOOSE);
  const large = [...folders].filter(([, { length }]) => length > MAX_FILES);
  expect(large.map(([folder, { length }]) => `${folder}: ${length} files`)).toEqual([]);
});

test("no source, test or example has more than 400 lines", () => {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "src", "test", "examples"], {
    cwd: ROOT,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => /\.(tsx?|css)$/.test(file));
  const long = files.flatMap((file) => {
    const lines = readFileSync(join(ROOT, file), "utf8").split("\n").length - 1;
    return lines > MAX_LINES ? [`${file}: ${lines} lines`] : [];
  });
  expect(long).toEqual([]);
});
