import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/* Compares src/README.md, the guide, with the source tree. */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SRC = join(ROOT, "src");
const GUIDE = readFileSync(join(SRC, "README.md"), "utf8");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

test("every path in the guide exists, relative to src or the root", () => {
  const named = [
    ...GUIDE.matchAll(/`((?:\.?[\w-]+\/)*\.?[\w.-]*\.(?:tsx?|md|json|npmrc)|(?:[\w-]+\/)+)`/g),
  ].map(([, path]) => path);
  expect(named.length).toBeGreaterThan(60);
  const missing = named.filter((path = "") => !existsSync(join(SRC, path)) && !existsSync(join(ROOT, path)));
  expect(missing).toEqual([]);
  const linked = [...GUIDE.matchAll(/\]\(([^)#]+)\)/g)].map(([, target = ""]) => target);
  expect(linked.filter((target) => !existsSync(join(SRC, target)))).toEqual([]);
});

test("each test file that the guide lists for a law has the law's tag", () => {
  const laws = [...GUIDE.matchAll(/^\| (L\d) .*$/gm)];
  expect(laws.map(([, law]) => law)).toEqual(["L1", "L2", "L3", "L4", "L5", "L6"]);
  for (const [row, law] of laws) {
    const files = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThan(1);
    const untagged = files.filter((file) => !readFileSync(join(ROOT, file), "utf8").includes(`[${law}]`));
    expect(untagged, law).toEqual([]);
  }
});

test("the guide's scripts exist", () => {
  const named = [...GUIDE.matchAll(/npm run (\w+)/g)].map(([, script]) => script);
  expect(named.length).toBeGreaterThan(4);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
});
