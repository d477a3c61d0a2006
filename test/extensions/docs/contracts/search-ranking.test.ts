import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";
import { DOCUMENTS } from "../../../../src/gateway/http/index.ts";
import { type Rest, test } from "../../../gateway/http/rest/rest-fixture.ts";

type Entry = readonly [title: string, page: string, href: string, words: string];
interface Script {
  readonly findEntries: (words: readonly string[], entries: readonly Entry[]) => readonly Entry[];
  readonly wordsOf: (text: string) => readonly string[];
}

const readSource = (path: string) =>
  readFileSync(new URL(`../../../../src/${path}`, import.meta.url), "utf8");

/** Returns a function that returns the entries for a typed text, best first, as the page does. */
async function searchOf(rest: Rest): Promise<(text: string) => readonly Entry[]> {
  const script = readSource("extensions/docs/site/assets/search.js");
  const { findEntries, wordsOf }: Script = runInNewContext(`${script}; ({ findEntries, wordsOf })`, {
    document: { querySelector: () => null },
  });
  const { json } = await rest.ask("GET", DOCUMENTS.docsSearch.path);
  const { entries } = json as { readonly entries: readonly Entry[] };
  return (text) => findEntries(wordsOf(text), entries);
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

/** Typical first searches, and the page that must be among the first five. */
const TYPICAL: Readonly<Record<string, string>> = {
  "what is a flare": "/docs/flares#what-a-flare-is",
  "websocket reconnect": "/docs/client#about-reconnecting",
  "webhook secret": "/docs/alerts#webhooks",
  "resume after disconnect": "/docs/client#about-resuming",
  "telegram alerts": "/docs/alerts#telegram",
  "discord webhook": "/docs/alerts#discord",
  "api key": "/docs/operating#keys",
  "jwt token": "/docs/operating#about-tokens",
  "rate limit": "/docs/events#codes",
  "close code 4003": "/docs/events#codes",
  "python client": "/docs/python#the-client-for-python",
  "react hook": "/docs/client#about-react",
  "history pagination": "/docs/rest/get-history",
  "cursor expired": "/docs/protocol#about-w9",
  "canary meaning": "/docs/flares#about-canary",
  "nginx proxy": "/docs/operating#behind-a-proxy",
  "filter by liquidity": "/docs/client#about-filters",
  "long poll timeout": "/docs/rest/get-events",
  "heartbeat interval": "/docs/settings#about-heartbeat",
  "upgrade server": "/docs/operating#about-upgrade",
  "server sent events curl": "/docs/client#server-sent-events-and-long-poll",
  "freqtrade pairlist": "/docs/rest/get-pairlist",
  "backtest bot": "/docs/recordings#recordings",
  "disk space usage": "/docs/live#about-memory-and-disk",
};

test("a typical first search finds its page among the first five, also if no entry has all of its words", async ({
  rest,
}) => {
  const search = await searchOf(rest);
  for (const [text, href] of Object.entries(TYPICAL)) {
    const first = search(text)
      .slice(0, 5)
      .map(([, , to]) => to);
    expect(first, text).toContain(href);
  }
  expect(search("no-such-word neither-this")).toEqual([]);
});

test("entries with more of the typed words are first", async ({ rest }) => {
  const search = await searchOf(rest);
  expect(search("webhook secret")[0]?.[2]).toBe("/docs/alerts#webhooks");
});
