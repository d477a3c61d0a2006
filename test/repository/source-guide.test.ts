import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ALLOWED } from "./dependency-rules.ts";

/* Compares src/README.md, the guide, with the source tree. */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SRC = join(ROOT, "src");
const GUIDE = readFileSync(join(SRC, "README.md"), "utf8");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/** The beginning of the list of all files, which is the guide's last section. */
const EVERY_FILE = `## Every file

By folder, without index files. Names without an ending are TypeScript.

`;

/** The rows of the table of parts by name: each part's text, and the parts that it may import. */
const PARTS = new Map(
  [...GUIDE.matchAll(/^\| `(\w+)\/` \| (.+) \| ([^|]+) \|$/gm)].map(
    ([, name = "", text = "", others = ""]) => [
      name,
      { text, others: [...others.matchAll(/`(\w+)`/g)].map(([, other = ""]) => other) },
    ],
  ),
);

test("the guide names every folder of src in a row of its part, and no cell has more than 220 characters", () => {
  const folders = readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => relative(SRC, join(parentPath, name)));
  expect(folders.length).toBeGreaterThan(25);
  const unnamed = folders.filter((folder) => {
    const [part = "", ...below] = folder.split("/");
    if (below.length === 0) return !PARTS.has(part);
    const rows = GUIDE.split("\n").filter((line) => line.startsWith(`| \`${part}/`));
    return !rows.some((row) => row.includes(`\`${folder}/\``));
  });
  expect(unnamed).toEqual([]);
  const cells = GUIDE.split("\n")
    .filter((line) => /^\| `\w+\//.test(line))
    .flatMap((row) => row.split(" | "));
  expect(cells.filter((cell) => cell.length > 220)).toEqual([]);
});

test("the guide lists the parts with their allowed imports", () => {
  const reported = [...PARTS].filter(([name]) => !["cli", "config", "gateway"].includes(name));
  expect(Object.fromEntries(reported.map(([name, { others }]) => [name, others.sort()]))).toEqual(
    Object.fromEntries(Object.entries(ALLOWED).map(([name, { parts }]) => [name, parts.toSorted()])),
  );
});

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

test.each([
  ["An endpoint", "http/endpoints.ts"],
  ["A query parameter", "http/contracts/parameters.ts"],
  ["A filter", "protocol/filter.ts"],
  ["An event, a message, a limit, a close code", "protocol/close-codes.ts"],
  ["A limit on connections", "gateway/connection-limits.ts"],
  ["A setting", "config/schema/settings.ts"],
  ["An exchange", "feed/exchange/venue.ts"],
  ["A chain", "feed/chain/networks.ts"],
  ["A list", "trend/views/rankings.ts"],
  ["A condition of the start, a term of the score, a warning of the canary", "trend/detect/canary.ts"],
  ["A target of alerts, or an option of a rule", "alerts/rules/rule-state.ts"],
  ["A metric", "metrics/metric-table.ts"],
  ["A log line", "lib/notify.ts"],
  ["A page, a column or a text of the dashboard", "dashboard/parts/outage.tsx"],
  ["A document", "http/docs/guides.ts"],
])("the guide's recipe “%s” names src/%s", (change, file) => {
  const recipe = GUIDE.split("\n\n").find((paragraph) => paragraph.startsWith(`**${change}.**`));
  expect(recipe).toContain(`\`${file}\``);
});

test("the guide's scripts exist, and the guide has fewer than 200 lines before its list of files", () => {
  const named = [...GUIDE.matchAll(/npm run (\w+)/g)].map(([, script]) => script);
  expect(named.length).toBeGreaterThan(4);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  expect(GUIDE.slice(0, GUIDE.indexOf(EVERY_FILE)).split("\n").length).toBeLessThan(200);
});

test("the guide lists every file by folder: regenerate with npx vitest run --root test repository/source-guide -u", async () => {
  const files = readdirSync(SRC, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const isSource = /\.(tsx?|py|css)$/.test(entry.name) && entry.name !== "index.ts";
    return entry.isFile() && isSource ? [relative(SRC, join(entry.parentPath, entry.name))] : [];
  });
  const byFolder = Map.groupBy(files.toSorted(), (file) => dirname(file));
  const lines = [...byFolder].map(([folder, own]) => {
    const names = own.map((file) => basename(file).replace(/\.ts$/, ""));
    return `- \`${folder === "." ? "src" : folder}/\` ${names.join(", ")}`;
  });
  expect(files.length).toBeGreaterThan(500);
  const guide = `${GUIDE.slice(0, GUIDE.indexOf(EVERY_FILE))}${EVERY_FILE}${lines.join("\n")}\n`;
  await expect(guide).toMatchFileSnapshot(join(SRC, "README.md"));
});
