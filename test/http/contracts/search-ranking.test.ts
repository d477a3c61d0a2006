import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";
import { DOCUMENTS } from "../../../src/http/index.ts";
import { type Rest, test } from "../rest/rest-fixture.ts";

type Entry = readonly [title: string, page: string, href: string, words: string];
type FindEntries = (words: readonly string[], entries: readonly Entry[]) => readonly Entry[];

const readSource = (path: string) => readFileSync(new URL(`../../../src/${path}`, import.meta.url), "utf8");

/** Returns a function that returns a word's entries, best first, as the page does. */
async function searchOf(rest: Rest): Promise<(word: string) => readonly Entry[]> {
  const script = readSource("http/docs/assets/search.js");
  const findEntries: FindEntries = runInNewContext(`${script}; findEntries`, {
    document: { querySelector: () => null },
  });
  const { json } = await rest.ask("GET", DOCUMENTS.docsSearch.path);
  const { entries } = json as { readonly entries: readonly Entry[] };
  return (word) => findEntries([word.toLowerCase()], entries);
}

const SETTINGS = readSource("config/SETTINGS.md")
  .split("\n")
  .flatMap((line) => {
    const [, key] = /^\* \*\*`(\w+)`\*\*/.exec(line) ?? [];
    return key === undefined ? [] : [{ key, line }];
  });

test("a flag or a variable finds its setting first, and a key finds it after entries of equal name only", async ({
  rest,
}) => {
  const search = await searchOf(rest);
  expect(SETTINGS.length).toBeGreaterThan(70);
  for (const { key, line } of SETTINGS) {
    const href = `/docs/settings#about-${key.toLowerCase()}`;
    const spellings = line.match(/--[a-z][\w-]*|FLAREWIRE_\w+/g) ?? [];
    expect(spellings.length, key).toBeGreaterThanOrEqual(2);
    for (const spelling of spellings) expect(search(spelling)[0]?.[2], spelling).toBe(href);
    const found = search(key);
    const at = found.findIndex(([, , to]) => to === href);
    expect(at, key).toBeGreaterThanOrEqual(0);
    for (const [title] of found.slice(0, at))
      expect(title.split("/").at(-1)?.toLowerCase(), key).toBe(key.toLowerCase());
  }
});

test("the last part of an endpoint's path finds the endpoint first, before sections of that title", async ({
  rest,
}) => {
  const search = await searchOf(rest);
  for (const name of ["history", "candles", "flares", "record", "snapshot", "events"])
    for (const word of [name, `/api/v1/${name}`])
      expect(search(word)[0]?.[0], word).toBe(`GET /api/v1/${name}`);
  for (const word of ["metrics", "/metrics"]) expect(search(word)[0]?.[0], word).toBe("GET /metrics");
});
