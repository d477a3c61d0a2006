import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAX_COLUMNS = 100;

/** Returns the numbers of the comment lines that are too wide. */
function wideComments(text: string): readonly number[] {
  let isInBlock = false;
  return text.split("\n").flatMap((line, at) => {
    const startsComment = /^\s*(\/\/|\{?\/\*)/.test(line);
    const isComment = isInBlock || startsComment || /[;,{)\]] \/\/ /.test(line);
    if (startsComment || isInBlock) isInBlock = !/^\s*\/\//.test(line) && !line.includes("*/");
    return isComment && line.length > MAX_COLUMNS ? [at + 1] : [];
  });
}

const LONG = "x".repeat(MAX_COLUMNS);

test.for([
  [`// ${LONG}`, [1]],
  [`a;\n/**\n * ${LONG}\n */\nconst ${LONG} = 1;`, [3]],
  [`/* short */\nconst ${LONG} = 1; // why`, [2]],
  [`const url = "https://${LONG}";`, []],
] as const)("the wide comments of %j are in lines %j", ([text, lines]) => {
  expect(wideComments(text)).toEqual(lines);
});

test("comments are at most 100 columns wide", () => {
  const files = globSync("{src,test,examples}/**/*.{ts,tsx,css}", { cwd: ROOT });
  expect(files.length).toBeGreaterThan(1_000);
  const wide = files
    .filter((file) => !file.includes("node_modules"))
    .flatMap((file) => wideComments(readFileSync(`${ROOT}${file}`, "utf8")).map((line) => `${file}:${line}`));
  expect(wide).toEqual([]);
});
