import { readFileSync } from "node:fs";
import { Script } from "node:vm";
import { expect } from "vitest";
import { escapeHtml } from "../../../../src/base/lib/text/escape-html.ts";
import {
  createAsyncApi,
  createOpenApi,
  DOCUMENTS,
  GUIDES,
  operationsIn,
  TUTORIALS,
} from "../../../../src/extensions/docs/index.ts";
import { HISTORY_ROUTES } from "../../../../src/extensions/history/http/history-routes.ts";
import { html } from "../../../../src/extensions/pages/html.ts";
import { type Rest, test as restTest, useRests } from "../../../gateway/http/rest/rest-fixture.ts";
import { CONTRACTS } from "../../../support/expect/contracts.ts";
import { IS_SOAK } from "../../../support/law-runs.ts";
import { WITH_ALL_ROUTES } from "./all-routes.ts";

/**
 * Servers that all tests share, because tests do not change them and each page is rendered once.
 */
const test = restTest.extend<{ atRoot: Rest; below: Rest }>({
  atRoot: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
    async ({}, use) => useRests(async (makeRest) => use(await makeRest(WITH_ALL_ROUTES))),
    { scope: "file" },
  ],
  below: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
    async ({}, use) =>
      useRests(async (makeRest) =>
        use(await makeRest({ ...WITH_ALL_ROUTES, settings: { basePath: "/fw" } })),
      ),
    { scope: "file" },
  ],
});

const OPERATIONS = operationsIn(CONTRACTS);
const ALL = [
  ...Object.values(DOCUMENTS),
  ...[...[...TUTORIALS, ...GUIDES].map(({ path }) => path), ...OPERATIONS.map(({ page }) => page)].map(
    (path) => ({
      path,
      type: "text/html",
    }),
  ),
];
/** Bytes of a document whose compressed size is close to the limit. */
const LONG = 60_000;
const PAGES = ALL.filter(({ type }) => type === "text/html");

test("both contracts are served below the base path, and contain it", async ({ below: rest }) => {
  const openapi = await rest.ask("GET", "/fw/openapi.json");
  const address = "http://localhost:80/fw";
  expect(openapi.json).toEqual(JSON.parse(JSON.stringify(createOpenApi("/fw", CONTRACTS, address))));
  expect(openapi.json).toMatchObject({ openapi: "3.1.1", servers: [{ url: address }] });
  const asyncapi = await rest.ask("GET", "/fw/asyncapi.json");
  expect(asyncapi.json).toEqual(JSON.parse(JSON.stringify(createAsyncApi("/fw", address))));
  expect(asyncapi.json).toMatchObject({ asyncapi: "3.0.0", servers: { websocket: { pathname: "/fw" } } });
  expect((await rest.ask("GET", "/openapi.json")).status).toBe(404);
});

test("a server without a history describes neither its paths nor past states", async ({ makeRest }) => {
  const { json, body } = await (await makeRest()).ask("GET", "/openapi.json");
  const { paths } = json as { readonly paths: object };
  expect(Object.keys(paths)).toContain("/api/v1/flares");
  for (const { path } of Object.values(HISTORY_ROUTES)) expect(paths).not.toHaveProperty([path]);
  expect(body.toString()).not.toMatch(/"name":"at"|"Flarewire-At"|responses\/time-gone/);
});

test("every document has an entity tag, supports HEAD and OPTIONS, and is compressed", async ({
  atRoot: rest,
}) => {
  for (const { path, type } of ALL) {
    const { status, headers, body } = await rest.ask("GET", path);
    expect([status, headers["content-type"]]).toEqual([200, `${type}; charset=utf-8`]);
    const again = await rest.ask("GET", path, { "if-none-match": String(headers.etag) });
    expect([again.status, again.headers.etag]).toEqual([304, headers.etag]);
    const head = await rest.ask("HEAD", path);
    expect([head.status, head.headers["content-length"], head.body.length]).toEqual([
      200,
      `${body.length}`,
      0,
    ]);
    expect((await rest.ask("OPTIONS", path)).headers.allow).toBe("GET, HEAD, OPTIONS");
    expect((await rest.ask("POST", path)).status).toBe(405);
    // Compressing takes most of the time, so `npm test` checks only the documents near the limit.
    if (!IS_SOAK && body.length < LONG && path !== DOCUMENTS.docsSearch.path) continue;
    const small = await rest.ask("GET", path, { "accept-encoding": "br" });
    expect(small.headers["content-encoding"]).toBe("br");
    // Only the search loads the index.
    expect(small.body.length, path).toBeLessThan(path === DOCUMENTS.docsSearch.path ? 34_000 : 24_000);
  }
});

test("a page's URL with a final slash redirects to the page, also below the base path", async ({
  below: rest,
}) => {
  for (const { path } of PAGES) {
    const { status, headers } = await rest.ask("GET", `/fw${path}/`);
    expect([status, headers.location]).toEqual([308, `/fw${path}`]);
  }
});

test("a page loads nothing from other servers, and nothing that its policy blocks", async ({
  below: rest,
}) => {
  for (const { path } of PAGES) {
    const { headers, body } = await rest.ask("GET", `/fw${path}`);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
    expect(policy).not.toMatch(/unsafe|https?:|data:|\*/);
    const text = body.toString();
    expect(text).not.toMatch(/<[^>]+\s(?:on\w+|style)=/i);
    expect(text).not.toMatch(/<script(?![^>]+src=)|<style|<iframe|<img|<base|javascript:/i);
    const loaded = [...text.matchAll(/<(?:script|link)[^>]+(?:src|href)="([^"]+)"/g)].map(
      ([, target]) => target,
    );
    expect(loaded.toSorted()).toEqual(["/fw/docs/page.css", "/fw/docs/page.js"]);
    expect(text).toContain('<a href="/fw/">Dashboard</a>');
    for (const [, target = ""] of text.matchAll(/<a [^>]*href="([^"]+)"/g))
      expect(target).toMatch(/^(#|\/fw\/|https:)/);
  }
});

test("every link resolves, every id is unique, and every field has a label", async ({ atRoot: rest }) => {
  const found = new Set<string>();
  for (const { path } of PAGES) {
    const text = (await rest.ask("GET", path)).body.toString();
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => id);
    expect(
      ids.filter((id, at) => ids.indexOf(id) !== at),
      path,
    ).toEqual([]);
    const anchors = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id = ""]) => id);
    expect(
      [...new Set(anchors)].filter((id) => !ids.includes(id)),
      path,
    ).toEqual([]);
    for (const [, target = ""] of text.matchAll(/href="(\/[^"#]*)/g)) {
      if (!found.has(target)) expect((await rest.ask("GET", target)).status, target).toBe(200);
      found.add(target);
    }
    const fields = [...text.matchAll(/<(?:input|select|textarea) id="([^"]+)"/g)].map(([, id = ""]) => id);
    const labels = [...text.matchAll(/<label for="([^"]+)"/g)].map(([, id = ""]) => id);
    expect(labels).toEqual(fields);
  }
});

test("the pages show every path, every message and every rule", async ({ atRoot: rest }) => {
  const [docs, events, protocol] = await Promise.all(
    PAGES.map(async ({ path }) => (await rest.ask("GET", path)).body.toString()),
  );
  for (const path of Object.keys(createOpenApi("", CONTRACTS).paths))
    expect(docs).toContain(`<code>${path}</code>`);
  for (const { route, page } of OPERATIONS) {
    const { path } = route;
    expect(docs).toContain(`<a href="${page}"><code>${path}</code></a>`);
    const text = (await rest.ask("GET", page)).body.toString();
    expect(text).toContain(`<code>${path}</code></h1>`);
  }
  for (const name of Object.keys(createAsyncApi("").components.messages))
    expect(events).toContain(`id="message-${name}"`);
  const rules = readFileSync(
    new URL("../../../../src/base/protocol/PROTOCOL.md", import.meta.url),
    "utf8",
  ).matchAll(/\*\*(\[[WSP]\d+\])\*\*/g);
  for (const [, rule] of rules) expect(protocol).toContain(`<strong>${rule}</strong>`);
  expect(protocol).not.toMatch(/^(\||\* |#|```)/m);
});

test("every guide of the repository is a page and in the index, without Markdown syntax", async ({
  below: rest,
}) => {
  const index = (await rest.ask("GET", "/fw/docs/guides")).body.toString();
  for (const { path, file, title } of [...TUTORIALS, ...GUIDES]) {
    expect(index).toContain(`<a href="/fw${path}">${title}</a>`);
    const text = (await rest.ask("GET", `/fw${path}`)).body.toString();
    const [, heading = ""] =
      /^# (.*)$/m.exec(readFileSync(new URL(`../../../../${file}`, import.meta.url), "utf8")) ?? [];
    expect(text).toContain('<a href="/fw/docs/guides">Guides</a>');
    expect(text).toContain(`">${heading}</h1>`);
    expect(text.replace(/<pre[\s\S]*?<\/pre>/g, "")).not.toMatch(/^(\||\* |\d\. |#|```)|<!--|\]\(|\0/m);
    expect(text.replace(/<(pre|code)\b[\s\S]*?<\/\1>/g, ""), path).not.toContain("**");
  }
  const source = (await rest.ask("GET", "/fw/docs/source")).body.toString();
  expect(source).toContain('<a href="/fw/docs/protocol">');
});

test("every page has the header, and a list of all pages that marks the current one and lists its sections", async ({
  below: rest,
}) => {
  for (const { path } of PAGES) {
    const text = (await rest.ask("GET", `/fw${path}`)).body.toString();
    for (const [target, label] of [
      ["/", "Dashboard"],
      ["/docs", "Docs"],
      ["/widgets", "Widgets"],
      ["/docs/source", "Source"],
    ])
      expect(text).toMatch(new RegExp(`<a href="/fw${target}"[^>]*>${label}</a>`));
    const [map = ""] = /<nav id="map"[\s\S]*?<\/nav>/.exec(text) ?? [];
    for (const page of PAGES) expect(map).toContain(`href="/fw${page.path}"`);
    expect(map.match(/href="([^"]+)" aria-current="page"/)?.[1]).toBe(`/fw${path}`);
    const sections = [...text.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => `#${id}`);
    expect([...map.matchAll(/href="(#[^"]+)">(?!Close<)/g)].map(([, target]) => target)).toEqual(sections);
  }
});

test("the search finds every operation, message, close code, rule, setting and section, at URLs that exist", async ({
  below: rest,
}) => {
  const { json } = await rest.ask("GET", "/fw/docs/search.json");
  const { entries: index } = json as { readonly entries: readonly string[][] };
  const texts = new Map<string, string>();
  for (const { path } of PAGES)
    texts.set(`/fw${path}`, (await rest.ask("GET", `/fw${path}`)).body.toString());
  for (const [title = "", , href = ""] of index) {
    const [page = "", id] = href.split("#");
    expect(texts.get(page), title).toBeDefined();
    if (id !== undefined) expect(texts.get(page), title).toContain(`id="${id}"`);
  }
  const finds = (words: string) =>
    index
      .filter((entry) => words.split(" ").every((word) => entry.join(" ").includes(word)))
      .map(([, , href]) => href);
  for (const { route, page } of OPERATIONS) expect(finds(route.path)).toContain(`/fw${page}`);
  for (const name of Object.keys(createAsyncApi("").components.messages))
    expect(finds(name)).toContain(`/fw/docs/events#message-${name}`);
  expect(finds("min_liquidity")).toContain("/fw/docs/rest/get-events");
  expect(finds("4200")).toContain("/fw/docs/events#codes");
  for (const words of ["rug", "possible rug", "Safer"])
    expect(finds(words), words).toContain("/fw/docs/flares#the-warnings");
  expect(finds("[W23]")).toContain("/fw/docs/protocol#about-w23");
  // Words of the text, and bold beginnings of paragraphs.
  expect(finds("systemd")).toContain("/fw/docs/operating#supervise");
  expect(finds("Resuming")).toContain("/fw/docs/client#about-resuming");
  for (const page of ["operating#about-retention", "settings#about-historyage"])
    expect(finds("etention")).toContain(`/fw/docs/${page}`);
  // Common words, which are found only in titles, summaries, names and italics.
  for (const page of [
    "protocol#polling-and-history",
    "rest/get-events",
    "client#server-sent-events-and-long-poll",
  ])
    expect(finds("long poll")).toContain(`/fw/docs/${page}`);
  expect(finds("SSE")).toContain("/fw/docs/rest/get-events");
  expect(finds("port")).toContain("/fw/docs/settings#about-port");
});

test("samples are in three languages, and parse", async ({ atRoot: rest }) => {
  const pages = ["/docs", ...OPERATIONS.map(({ page }) => page)];
  for (const page of pages) {
    const text = (await rest.ask("GET", page)).body.toString();
    const samples = [
      ...text.matchAll(
        /<section><p>(curl|TypeScript|Python)<\/p><pre class="sample own"[^>]*>([\s\S]*?)<\/pre>/g,
      ),
    ].slice(0, 3);
    expect(samples.map(([, language]) => language)).toEqual(["curl", "TypeScript", "Python"]);
    const [curl = "", typescript = "", python = ""] = samples.map(([, , code = ""]) =>
      code
        .replaceAll("&quot;", '"')
        .replaceAll("&#39;", "'")
        .replaceAll("&gt;", ">")
        .replaceAll("&amp;", "&"),
    );
    for (const sample of [curl, typescript, python]) {
      expect(sample.split("\n").length).toBeLessThanOrEqual(5);
      expect(sample).toContain("http://127.0.0.1:8080");
    }
    const script = typescript.replace(/^import .*$/m, "");
    expect(() => new Script(`async () => {${script}}`), page).not.toThrow();
    expect(curl).toMatch(/^curl -\w+ .*'http:[^']+'$/);
  }
});

test("the script inserts untrusted content as text only", async ({ atRoot: rest }) => {
  const script = (await rest.ask("GET", DOCUMENTS.docsScript.path)).body.toString();
  expect(() => new Script(script)).not.toThrow();
  expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/);
});

test("inserted content becomes text", () => {
  const hostile = `<img src=x onerror="alert('1')">&`;
  expect(html`<p title="${hostile}">${hostile}</p>`.markup).toBe(
    `<p title="${escapeHtml(hostile)}">&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</p>`,
  );
  expect(html`${[html`<b>`, html`${"<"}`]}${undefined}${false}${1}`.markup).toBe("<b>&lt;1");
});

test("no document shows its front matter, as a page or as Markdown", async ({ below: rest }) => {
  for (const path of ["/fw/docs/skill", "/fw/docs/skill.md"])
    expect((await rest.ask("GET", path)).body.toString(), path).not.toContain("name: flarewire");
});

test("/llms.txt has the expected format, and every link in it and in the Markdown documents leads to a document", async ({
  below: rest,
}) => {
  const index = await rest.ask("GET", "/fw/llms.txt");
  expect(index.headers["content-type"]).toBe("text/plain; charset=utf-8");
  const text = index.body.toString();
  expect(text).toMatch(/^# Flarewire\n\n> [^\n]+\n\n(- [^\n]+\n)+\n## /);
  const linksOf = (markdown: string) =>
    [...markdown.replace(/^```[\s\S]*?^```$|`[^`\n]+`/gm, "").matchAll(/\]\(([^)#\s]+)/g)].map(
      ([, to = ""]) => to,
    );
  const links = linksOf(text);
  expect(links).toEqual(expect.arrayContaining(["/fw/docs/skill.md", "/fw/openapi.json"]));
  const read = new Set<string>();
  for (const link of links.filter((one) => one.startsWith("/"))) {
    const answer = await rest.ask("GET", link);
    expect(answer.status, link).toBe(200);
    if (!link.endsWith(".md")) continue;
    expect(answer.headers["content-type"]).toBe("text/markdown; charset=utf-8");
    expect(answer.body.toString()).toMatch(/^\s*# /);
    for (const inner of linksOf(answer.body.toString())) read.add(inner);
  }
  const own = [...read].filter((link) => !link.startsWith("https:"));
  expect(own.length).toBeGreaterThan(10);
  expect(own.filter((link) => !links.includes(link))).toEqual([]);
});
