import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";
import { DOCUMENTS } from "../../../src/http/index.ts";
import { type Rest, test } from "../rest/rest-fixture.ts";

type Entry = readonly [title: string, page: string, href: string, words: string];
interface Script {
  readonly findEntries: (words: readonly string[], entries: readonly Entry[]) => readonly Entry[];
  readonly wordsOf: (text: string) => readonly string[];
}

const readSource = (path: string) => readFileSync(new URL(`../../../src/${path}`, import.meta.url), "utf8");

/** Returns a function that returns the entries for a typed text, best first, as the page does. */
async function searchOf(rest: Rest): Promise<(text: string) => readonly Entry[]> {
  const script = readSource("http/docs/assets/search.js");
  const { findEntries, wordsOf }: Script = runInNewContext(`${script}; ({ findEntries, wordsOf })`, {
    document: { querySelector: () => null },
  });
  const { json } = await rest.ask("GET", DOCUMENTS.docsSearch.path);
  const { entries } = json as { readonly entries: readonly Entry[] };
  return (text) => findEntries(wordsOf(text), entries);
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

test("a question finds the guide that answers it first", async ({ rest }) => {
  const search = await searchOf(rest);
  for (const text of ["stop", "how to stop", "How do I stop the server?"])
    expect(search(text)[0]?.[2], text).toBe("/docs/operating#stop");
  for (const text of ["where is data stored", ".local/state", "XDG_STATE_HOME"])
    expect(search(text)[0]?.[2], text).toBe("/docs/operating#about-where-data-is-stored");
  expect(search("how to")[0]?.[0]).toMatch(/^How to/);
});

test("notes of the changelog are below all other entries, and its name finds it first", async ({ rest }) => {
  const search = await searchOf(rest);
  expect(search("changelog")[0]?.[2]).toBe("/docs/changelog#changelog");
  for (const text of ["doctor", "fixed", "npm start", "retention", "stop"]) {
    const isNote = search(text).map(([, page]) => page.startsWith("Changelog"));
    expect(isNote, text).toContain(true);
    expect(isNote.indexOf(true), text).toBeGreaterThan(isNote.lastIndexOf(false));
  }
});
