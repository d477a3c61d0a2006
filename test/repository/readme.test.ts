import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { settingsTable } from "../../src/config/config.ts";
import { DOCUMENTS, ENDPOINTS, EVENTS_ENDPOINT, STREAM_PATH } from "../../src/http/index.ts";
import { CHANNELS, EVENT_NAMES } from "../../src/index.ts";

const ROOT = new URL("../../", import.meta.url);
const README = readFileSync(new URL("README.md", ROOT), "utf8");
const manifest = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8"));

/** What stands between `<!-- name -->` and its end. */
function section(name: string): string {
  return README.split(`<!-- ${name} -->\n`)[1]?.split(`<!-- /${name} -->`)[0]?.trim() ?? "";
}

test("the README's table of settings is the program's own", () => {
  expect(section("settings")).toBe(settingsTable());
});

test("the README names every address, every event and every channel", () => {
  for (const { path } of Object.values(ENDPOINTS)) expect(README).toContain(path);
  expect(README).toContain(STREAM_PATH);
  expect(README).toContain(EVENTS_ENDPOINT.path);
  for (const { path, type } of Object.values(DOCUMENTS)) {
    if (/html|json/.test(type)) expect(README).toContain(path);
  }
  for (const name of EVENT_NAMES) expect(README).toContain(`\`${name}\``);
  for (const channel of CHANNELS) expect(README).toMatch(new RegExp(channel.split(".")[0] ?? channel));
});

test("every file that the README links to is there, and every npm script that it names", () => {
  for (const [, target] of README.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
    expect(existsSync(new URL(target ?? "", ROOT)), target).toBe(true);
  }
  for (const [, script] of README.matchAll(/npm run (?:--silent )?([a-z]+)/g)) {
    expect(Object.keys(manifest.scripts), script).toContain(script);
  }
});

test("the check that guards the main branch is the README's test command and no other", () => {
  const run = readFileSync(fileURLToPath(new URL(".ci/run", ROOT)), "utf8")
    .trim()
    .split("\n")
    .at(-1);
  expect(README).toContain(`${run} `);
});
