import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";
import { DOCUMENTS } from "../../../../src/extensions/docs/index.ts";
import { test as base, type Rest } from "../../../gateway/http/rest/rest-fixture.ts";
import { WITH_ALL_ROUTES } from "./all-routes.ts";

const test = base.extend<{ rest: Rest }>({
  rest: async ({ makeRest }, use) => use(await makeRest(WITH_ALL_ROUTES)),
});

type Entry = readonly [title: string, page: string, href: string, words: string];
interface Script {
  readonly findEntries: (words: readonly string[], entries: readonly Entry[]) => readonly Entry[];
  readonly wordsOf: (text: string) => readonly string[];
}

const readSource = (path: string) =>
  readFileSync(new URL(`../../../../src/${path}`, import.meta.url), "utf8");

const { findEntries, wordsOf }: Script = runInNewContext(
  `${readSource("extensions/docs/site/assets/search.js")}; ({ findEntries, wordsOf })`,
  { document: { querySelector: () => null } },
);

/** Returns a function that returns the entries for a typed text, best first, as the page does. */
async function searchOf(rest: Rest): Promise<(text: string) => readonly Entry[]> {
  const { json } = await rest.ask("GET", DOCUMENTS.docsSearch.path);
  const { entries } = json as { readonly entries: readonly Entry[] };
  return (text) => findEntries(wordsOf(text), entries);
}

/** Returns the titles that are found for a typed text in entries of our own, best first. */
function titlesFound(text: string, entries: readonly (readonly [title: string, words: string])[]) {
  const pages = entries.map(([title, words]): Entry => {
    const [page = "", own] = title.split("/");
    return [own ?? page, page, `#${title}`, words];
  });
  return findEntries(wordsOf(text), pages).map(([title, page]) =>
    title === page ? page : `${page}/${title}`,
  );
}

const SETTINGS = readSource("app/config/SETTINGS.md")
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

test("a question finds what its words without the fillers find", () => {
  const entries = [
    ["Operating/Stop", "SIGTERM drains the server"],
    ["Operating/Start", "how do I run the server"],
  ] as const;
  for (const text of ["stop", "how to stop", "How to stop?"])
    expect(titlesFound(text, entries), text).toEqual(["Operating/Stop"]);
  expect(titlesFound("how to", [["Guide/How to stop", ""]])).toEqual(["Guide/How to stop"]);
});

test("notes of the changelog are below all other entries, and its name finds it first", () => {
  const entries = [
    ["Changelog/0.1.0: doctor", "doctor checks a changelog of endpoints"],
    ["Changelog", "every change"],
    ["Live markets/Endpoints", "the command doctor checks them; no changelog"],
  ] as const;
  expect(titlesFound("doctor", entries)).toEqual(["Live markets/Endpoints", "Changelog/0.1.0: doctor"]);
  expect(titlesFound("changelog", entries)[0]).toBe("Changelog");
});

test("entries with more of the typed words are first, those with rarer words before others", () => {
  const entries = [
    ["Streams/WebSocket", "frames"],
    ["Streams/Reconnecting", "waits"],
    ["Streams/Compression", "websocket frames"],
    ["Alerts/Webhooks", "websocket reconnect"],
  ] as const;
  const found = titlesFound("websocket reconnect", entries);
  expect(found[0]).toBe("Alerts/Webhooks");
  expect(found.indexOf("Streams/Reconnecting")).toBeLessThan(found.indexOf("Streams/Compression"));
  expect(titlesFound("no-such-word neither-this", entries)).toEqual([]);
});

/** Typical first searches, and the document that answers each. */
const TYPICAL: Readonly<Record<string, string>> = {
  "what is a flare": "/docs/flares",
  "how do I stop the server": "/docs/operating",
  "where is data stored": "/docs/operating",
  "websocket reconnect": "/docs/client",
  "webhook secret": "/docs/alerts",
  "api key": "/docs/operating",
  "python client": "/docs/python",
  "cursor expired": "/docs/protocol",
  "nginx proxy": "/docs/operating",
  "backtest bot": "/docs/recordings",
};

test("a typical first search finds its document among the first five entries", async ({ rest }) => {
  const search = await searchOf(rest);
  for (const [text, page] of Object.entries(TYPICAL)) {
    const first = search(text)
      .slice(0, 5)
      .map(([, , to]) => to.split("#")[0]);
    expect(first, text).toContain(page);
  }
});
