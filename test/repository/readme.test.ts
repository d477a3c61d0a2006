import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { settingsList } from "../../src/app/config/config.ts";
import { DOCUMENTS, GUIDES, PROTOCOL_FILE } from "../../src/extensions/docs/index.ts";
import type { RouteContract } from "../../src/gateway/http/index.ts";
import { CHANNELS, EVENT_NAMES } from "../../src/index.ts";
import { CONTRACTS } from "../support/expect/contracts.ts";
import { anchorsOf, DOCUMENT_FILES, readDocument } from "./documents.ts";

const ROOT = new URL("../../", import.meta.url);
const README = readFileSync(new URL("README.md", ROOT), "utf8");
const manifest = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8"));

test("the README has at most 150 lines and 9 kB, no table cell of over 120 characters, and a bot of 12 lines", () => {
  expect(README.split("\n").length - 1).toBeLessThanOrEqual(150);
  expect(Buffer.byteLength(README)).toBeLessThanOrEqual(9_000);
  const cells = [...README.matchAll(/^\|(.*)\|$/gm)].flatMap(([, row = ""]) => row.split("|"));
  expect(cells.length).toBeGreaterThan(50);
  expect(cells.filter((cell) => cell.trim().length > 120)).toEqual([]);
  const [, bot = ""] = /```ts\n([\s\S]*?)\n```/.exec(README) ?? [];
  expect(bot.split("\n")).toHaveLength(12);
});

test("the list of settings matches the program", () => {
  const [, list = ""] =
    /<!-- settings -->\n([\s\S]*)\n<!-- \/settings -->/.exec(readDocument("src/app/config/SETTINGS.md")) ??
    [];
  expect(list).toBe(settingsList());
});

test("the README links to every document, and names six endpoints and four channels that exist", () => {
  for (const { file } of [...GUIDES, { file: PROTOCOL_FILE }]) expect(README).toContain(`](${file})`);
  const paths = CONTRACTS.map(({ path }) => path);
  const named = [...README.matchAll(/^\| `GET ([^`]+)` \|/gm)].map(([, path = ""]) => path);
  expect(named).toHaveLength(6);
  expect(paths).toEqual(expect.arrayContaining(named));
  const channels = [...README.matchAll(/^\| `([a-z.]+)` \|/gm)].map(([, channel = ""]) => channel);
  expect(channels).toHaveLength(4);
  expect(CHANNELS).toEqual(expect.arrayContaining(channels));
});

test("the document on clients names every endpoint and event, and the first part of every channel", () => {
  const text = readDocument("src/clients/sdk/README.md");
  const files: readonly RouteContract[] = [DOCUMENTS.docsScript, DOCUMENTS.docsStyle];
  for (const contract of CONTRACTS) if (!files.includes(contract)) expect(text).toContain(contract.path);
  for (const name of EVENT_NAMES) expect(text).toContain(`\`${name}\``);
  for (const channel of CHANNELS) expect(text).toMatch(new RegExp(`^\\| \`${channel.split(".")[0]}\\b`, "m"));
});

test("every file, heading and npm script that a document refers to exists", () => {
  for (const file of DOCUMENT_FILES) {
    const text = readDocument(file);
    for (const [, target = "", anchor = ""] of text.matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
      const path = target === "" ? file : join(dirname(file), target);
      expect(existsSync(new URL(path, ROOT)), `${file}: ${target}`).toBe(true);
      if (anchor !== "") expect(anchorsOf(readDocument(path)), `${file}: ${target}`).toContain(anchor);
    }
    for (const [, script] of text.matchAll(/npm run (?:--silent )?([a-z]+)/g)) {
      expect(Object.keys(manifest.scripts), `${file}: ${script}`).toContain(script);
    }
  }
});

test("the README has the same figures as the document on flares", () => {
  const document = readDocument("src/engine/README.md");
  const recorded = document.slice(document.indexOf("After flares of the recorded minutes"));
  const figure = (pattern: RegExp, text = document) => Number(pattern.exec(text)?.[1]?.replace("−", "-"));
  const ofTrades = (row: string) => figure(new RegExp(`^\\| ${row}[^|]*\\|[^|]*\\| ([−\\d.]+)`, "m"));
  const roseBy15 = (row: string) =>
    Math.round(figure(new RegExp(`^\\| ${row} \\|(?:[^|]*\\|){3} ([\\d.]+) \\|`, "m"), recorded));
  const pumps = ofTrades("pumps with a new flare or a surge");
  expect(README).toContain(`Of ${figure(/trades of (\d+) pumps/)} pumps`);
  expect(README).toContain(
    `${figure(/(\d+) of them rose by 10 % or more/)} rose by 10 % or more. All ${pumps} had`,
  );
  expect(README).toContain(`in the median ${ofTrades("seconds after the first 2 %")} seconds`);
  expect(README).toContain(`with ${ofTrades("share of the move still ahead") * 100} % of the move`);
  expect(README).toContain(`prices were ${-ofTrades("price 15 minutes later")} % lower`);
  expect(README).toContain(`In ${figure(/trade of (\d+) Uniswap V2 pools/)} young`);
  expect(README).toContain(`${/1 of 100 flares in `free`/.exec(document)?.[0]} was rugged`);
  const [flares, others] = [roseBy15("natural"), roseBy15("natural: control")];
  expect(README).toContain(`higher after ${flares} % of flares, and ${others} % of random moments`);
});

test("the README names the command that .ci/run runs last", () => {
  const run = readFileSync(fileURLToPath(new URL(".ci/run", ROOT)), "utf8")
    .trim()
    .split("\n")
    .at(-1);
  expect(README).toContain(`\`${run}\``);
});

test("every file that a command on the examples' page runs exists", () => {
  const named = [...readDocument("examples/README.md").matchAll(/\bexamples\/[\w./-]+\.(?:ts|py|sh|gz)\b/g)];
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(([path]) => !existsSync(new URL(path, ROOT))).map(([path]) => path)).toEqual([]);
});
