import { globSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import config from "../vitest.config.ts";

const cwd = fileURLToPath(new URL("../", import.meta.url));
const whole = projectsOf("test");
const isolated: readonly string[] = whole.find(({ isolate }) => isolate).include;
const patterns: readonly string[] = [...whole, ...projectsOf("unit")].flatMap(({ include, exclude }) => [
  ...include,
  ...(exclude ?? []),
]);

function projectsOf(mode: string) {
  const { test } = config({ mode, command: "serve" });
  return test?.projects?.map((project) => Object(project).test) ?? [];
}

test("each pattern of the test configuration matches a file", () => {
  expect(patterns.length).toBeGreaterThan(10);
  expect(patterns.filter((pattern) => globSync(pattern, { cwd }).length === 0)).toEqual([]);
});

test("a test that collects garbage to measure memory runs in a process of its own", () => {
  const measuring = globSync("**/*.test.ts", { cwd }).filter((file) =>
    /^import .*create-gc\.ts"/m.test(readFileSync(`${cwd}${file}`, "utf8")),
  );
  expect(measuring.length).toBeGreaterThan(2);
  expect(measuring.filter((file) => !isolated.some((pattern) => matchesGlob(file, pattern)))).toEqual([]);
});
