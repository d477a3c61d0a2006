import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { PAGES, readRoute } from "../../../src/clients/dashboard/route.ts";
import { fileOf, KEPT, SHOWN_PAGES } from "./shots.ts";

const ROOT = new URL("../../../", import.meta.url);
const KEPT_IN = "src/clients/dashboard/screenshots/";
const MAX_BYTES = 600_000;
const kept = Object.entries(KEPT).flatMap(([page, looks]) => looks.map((look) => fileOf(page, look)));

test("each page of the dashboard has a screenshot, and no other dashboard address does", () => {
  const hashes = SHOWN_PAGES.filter(({ address }) => address.startsWith("#"));
  expect(hashes.map(({ address }) => readRoute(address).page)).toEqual([...PAGES, "token"]);
  for (const { name, address } of hashes) expect(readRoute(address).page, address).toBe(name);
});

/** The documents with pictures, each with its folder and text. */
const SHOWING = ["README.md", "src/clients/dashboard/README.md"].map((file) => ({
  folder: new URL(file, ROOT),
  text: readFileSync(new URL(file, ROOT), "utf8"),
}));

test("the documents show exactly the stored screenshots, which total at most 600 kB", () => {
  const shown = SHOWING.flatMap(({ folder, text }) =>
    [...text.matchAll(/(?:src|srcset)="(?!https?:)([^"]+)"|!\[[^\]]*\]\(([^)]+)\)/g)].map(
      ([, attribute, link]) => new URL(attribute ?? link ?? "", folder).href.slice(ROOT.href.length),
    ),
  );
  for (const path of shown) expect(existsSync(new URL(path, ROOT)), path).toBe(true);
  const pictures = [...new Set(shown)].filter((path) => path.endsWith(".png"));
  expect(pictures.toSorted()).toEqual(kept.map((file) => `${KEPT_IN}${file}`).toSorted());
  const files = readdirSync(new URL(KEPT_IN, ROOT));
  expect(files.toSorted()).toEqual(kept.toSorted());
  const bytes = files.reduce((sum, file) => sum + statSync(new URL(`${KEPT_IN}${file}`, ROOT)).size, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});

test("the README plays a recording of a terminal, which takes under 60 kB", () => {
  const file = "src/app/cli/tail/tail.svg";
  expect(SHOWING[0]?.text).toContain(`src="${file}"`);
  const svg = readFileSync(new URL(file, ROOT), "utf8");
  expect(svg).toMatch(/^<svg [^>]*>\n<title>flarewire tail/);
  expect(svg).toMatch(/>started .*the usual buyers/);
  expect(Buffer.byteLength(svg)).toBeLessThan(60_000);
});

test("each image in the documents has an alt text", () => {
  const tags = SHOWING.flatMap(({ text }) => [...text.matchAll(/<img [^>]+>/g)].map(([tag]) => tag));
  expect(tags.length).toBeGreaterThan(0);
  for (const tag of tags) expect(tag).toMatch(/alt="[^"]{20,}"/);
});
