import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAX_LINES = 400;

test("no source, test or example is longer than a reader can hold", () => {
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
