import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { anchorsOf, commandsOf } from "./documents.ts";

/* Compares the documents for contributors with the source tree. */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const GUIDE = read("src/README.md");
const { scripts, devDependencies } = JSON.parse(read("package.json"));

const DECISIONS = readdirSync(join(ROOT, "src/decisions")).map((name) => `src/decisions/${name}`);
const GITHUB = ["CONTRIBUTING.md", "SECURITY.md", "pull_request_template.md"].map(
  (name) => `.github/${name}`,
);
const DOCUMENTS = ["src/README.md", ...GITHUB, ...DECISIONS];

test("the source guide has at most 12 kB, and a decision at most 60 lines", () => {
  expect(Buffer.byteLength(GUIDE)).toBeLessThanOrEqual(12_000);
  expect(DECISIONS.filter((file) => read(file).split("\n").length > 61)).toEqual([]);
});

test.for(DOCUMENTS)("every path that %s names exists, relative to src or the root", (file) => {
  const paths = read(file).matchAll(
    /`((?:\.?[\w-]+\/)+|(?:\.?[\w-]+\/)*[\w.-]+\.(?:tsx?|md|json|yaml|css))`|(?<=^npx .*)((?:src|examples)\/[\w./-]+)/gm,
  );
  const named = [...paths].map(([, quoted, run]) => quoted ?? run ?? "");
  const roots = [join(ROOT, "src"), ROOT, dirname(join(ROOT, file))];
  // Its commands create this folder.
  const tracked = named.filter((path) => path !== ".on-demand/");
  expect(tracked.filter((path) => !roots.some((root) => existsSync(join(root, path))))).toEqual([]);
});

test.for(DOCUMENTS)("every file and heading that %s links to exists", (file) => {
  for (const [, target = "", anchor = ""] of read(file).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
    const path = target === "" ? file : join(dirname(file), target);
    expect(existsSync(join(ROOT, path)), target).toBe(true);
    if (anchor !== "") expect(anchorsOf(read(path)), target).toContain(anchor);
  }
});

test.for(DOCUMENTS)("every npm script that %s names exists", (file) => {
  const named = [...read(file).matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, script = ""]) => script);
  expect(named.filter((script) => !(script in scripts))).toEqual([]);
});

test("the contributor's commands start with a program that a clone has, and its tests exist", () => {
  const commands = commandsOf(read(".github/CONTRIBUTING.md")).map((line) => line.split(" "));
  expect(commands.length).toBeGreaterThan(10);
  for (const [program = "", first = "", ...rest] of commands) {
    expect(["npm", "npx", "curl"]).toContain(program);
    if (program === "npx") expect(devDependencies).toHaveProperty(first);
    if (first !== "vitest") continue;
    const folder = rest[rest.indexOf("--root") + 2] ?? "";
    const isThere = [folder, `${folder}.test.ts`].some((name) => existsSync(join(ROOT, "test", name)));
    expect(isThere || folder.startsWith("-"), folder).toBe(true);
  }
});

test("the index of decisions lists each of them once", () => {
  const listed = [...read("src/decisions/README.md").matchAll(/\]\((\d[\w-]+\.md)\)/g)].map(
    ([, name]) => `src/decisions/${name}`,
  );
  expect(listed.toSorted()).toEqual(DECISIONS.filter((file) => !file.endsWith("README.md")).toSorted());
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

test("a gateway serves the route of the guide's extension", async ({ onTestFinished }) => {
  const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(GUIDE) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "flarewire-guide-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const contract = pathToFileURL(join(ROOT, "src/gateway/start/extension.ts")).href;
  writeFileSync(join(folder, "uptime.ts"), `import { extension } from "${contract}";\n${code}`);
  const { uptime } = await import(join(folder, "uptime.ts"));
  const config = createConfig({ port: 0, warmup: "0", drain: "0", data: "none", logLevel: "silent" });
  const gateway = await startGateway(config, { extensions: [uptime] });
  onTestFinished(() => gateway.stop());
  const response = await fetch(`${gateway.url}/uptime`);
  expect(await response.json()).toEqual({ ms: expect.any(Number) });
});
