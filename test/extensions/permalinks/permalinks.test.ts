import { expect } from "vitest";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { FlarewireError } from "../../../src/base/protocol/index.ts";
import { createHistoryReader, openSqliteHistoryStore } from "../../../src/extensions/history/index.ts";
import { loadRenderer } from "../../../src/extensions/pages/index.ts";
import { Pictures } from "../../../src/extensions/permalinks/picture/pictures.ts";
import type { AccessPolicy } from "../../../src/gateway/http/access/access.ts";
import { allowAll } from "../../../src/gateway/http/access/access.ts";
import { type Rest, type RestFactory, test as restTest } from "../../gateway/http/rest/rest-fixture.ts";
import { HOSTILE_HOSTS, HOSTILE_PROTOCOLS } from "../../support/servers/hostile-hosts.ts";
import {
  SAMPLE_EXCHANGE_FLARE,
  SAMPLE_EXPLANATION,
  SAMPLE_FLARE,
  SAMPLE_SNAPSHOT,
} from "../../support/world/samples.ts";
import { finishAt, flareAt, idOf, MINUTE_MS, START_MS } from "../history/flare-records.ts";

const BROWSER = { accept: "text/html,*/*;q=0.8", host: "127.0.0.1:8080" };
const NASTY = `<img src=x onerror=alert(1)>"'&$&\u202E`;
const RUNNING = "3b241101-e2bb-5255-8caf-000000000001";
const STARTED = { ...SAMPLE_EXPLANATION, text: "12 buyers, price 9 % above normal" };
const FREE: AccessPolicy = { ...allowAll, isKeyed: true, admit: () => ({ plan: "free" }) };

const test = restTest.extend<{ serve: (options?: Parameters<RestFactory>[0]) => Promise<Rest> }>({
  serve: async ({ makeRest }, use) => {
    const store = openSqliteHistoryStore({ maxAgeMs: 1_000 * MINUTE_MS, maxBytes: 2 ** 30 });
    const finish = finishAt(7, 20);
    const token = { ...finish.flare.token, symbol: NASTY, name: NASTY };
    const older = finishAt(10, 19);
    const warned = older.why && { ...older.why, warnings: ["one-buyer"] };
    const candleAt = (minute: number) => ({
      open_at: new Date(START_MS + minute * MINUTE_MS).toISOString(),
      open: "1",
      high: "2",
      low: "1",
      close: String(1 + (minute % 3)),
      volume: "10",
      buys: 1,
      sells: 1,
    });
    store.commit({
      cursor: "test1-1",
      nowMs: START_MS + 20 * MINUTE_MS,
      starts: [{ id: idOf(7), at: finish.flare.started_trending_at, why: STARTED }],
      finishes: [
        { ...finish, flare: { ...finish.flare, token } },
        { ...older, why: warned },
      ],
      outcomes: [],
      candles: [{ group: "bsc", address: token.address, candles: [5, 12, 19].map(candleAt) }],
    });
    await use(async (options = {}) => {
      const rest = await makeRest({ history: createHistoryReader(store), ...options });
      const running = { ...SAMPLE_FLARE, id: RUNNING, token: flareAt(2, 0).token };
      const shown: Partial<Snapshot> = {
        flares: { ...SAMPLE_SNAPSHOT.flares, pro: [running], free: [] },
        explanations: { [RUNNING]: SAMPLE_EXPLANATION },
      };
      rest.head.observedAtMs = START_MS + 60 * MINUTE_MS;
      rest.head.move(shown);
      return rest;
    });
    store.close();
  },
});

const get = ({ app }: Rest, url: string, headers: object = {}, method: "GET" | "HEAD" = "GET") =>
  app.inject({ method, url, headers: { ...BROWSER, ...headers } });

test("a finished flare's page states without a script why it started, how it went and how it stands, and draws its price", async ({
  serve,
}) => {
  const { statusCode, headers, body } = await get(await serve(), `/flare/${idOf(7)}?utm_source=x`);
  expect([statusCode, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(headers).toMatchObject({ "cache-control": "no-cache", vary: "Accept-Encoding" });
  expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self'/);
  // The only script makes the page live.
  expect(body.match(/<script[^>]*>/g)).toEqual([
    expect.stringMatching(/^<script type="module" crossorigin src="\.\.\/assets\/permalink-/),
  ]);
  expect(body).toContain(`<p class="why-text">${STARTED.text}</p>`);
  for (const text of [
    "Activity faded 00:20. Was +14 %, last seen −100 %.",
    '<td><b class="change up">+5 %</b></td>',
    "$",
    '<g class="rise">',
    'class="mark start"',
    'class="mark end"',
    '<time datetime="2026-01-01T00:10:00.000Z">00:10</time>',
  ])
    expect(body).toContain(text);
  // Relative, so that it works below any path of a proxy.
  expect(body).toMatch(/href="\.\.\/assets\/token-[^"]+\.css"/);
  expect(body).toContain('href="../token/bsc/0xab01"');
  for (const path of ["docs", "widgets", "docs/source"]) expect(body).toContain(`<a href="../${path}">`);
});

test("the page of a flare whose start is not stored gives the reason at its end instead", async ({
  serve,
}) => {
  const { body } = await get(await serve(), `/flare/${idOf(10)}`);
  expect(body).toContain(`<p class="why-text">At its end: ${SAMPLE_EXPLANATION.text}</p>`);
});

test("the page of an older flare has its own warnings, and that of the latest does not have them", async ({
  serve,
}) => {
  const rest = await serve();
  const warningsOf = async (path: string) =>
    /<dt>Warnings<\/dt><dd>(?:<span[^>]*>)?([^<]*)/.exec((await get(rest, path)).body)?.[1];
  expect(await warningsOf(`/flare/${idOf(10)}`)).toBe("⚠ one buyer, when this flare ended");
  for (const path of [`/flare/${idOf(7)}`, "/token/bsc/0xab01"])
    expect(await warningsOf(path), path).toBe("none when its last flare ended");
});

test("the page of a token that flares gives the current reason", async ({ serve }) => {
  const { body } = await get(await serve(), `/token/bsc/${flareAt(2, 0).token.address.toLowerCase()}`);
  expect(body).toContain(`Now: ${SAMPLE_EXPLANATION.text}`);
});

test("hostile names are text on the pages of flares and tokens", async ({ serve }) => {
  const rest = await serve();
  for (const path of [`/flare/${idOf(7)}`, "/token/bsc/0xab01"]) {
    const { statusCode, body } = await get(rest, path);
    expect(statusCode, path).toBe(200);
    // The frame escapes the title, and the page the heading.
    expect(body).toContain("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;$&amp;");
    expect(body).toContain("&lt;img src=x onerror=alert(1)>&quot;'&amp;$&amp;");
    expect(body).not.toMatch(/<img|\u202E/);
  }
});

test("a token's page lists its finished flares with links", async ({ serve }) => {
  const { statusCode, body } = await get(await serve(), "/token/bsc/0xab01");
  expect(statusCode).toBe(200);
  expect(body).toContain(`<a href="../../flare/${idOf(7)}">`);
  expect(body).toContain('<td><b class="change up">+14 %</b></td>');
  expect(body).not.toContain("Flaring now");
});

test("tokens of other groups have pages while they are in a chart", async ({ serve }) => {
  const rest = await serve();
  const [exchange] = SAMPLE_SNAPSHOT.charts.exchange;
  const { statusCode, body } = await get(rest, `/token/exchange/${exchange?.token.symbol}`);
  expect([statusCode, body.includes(exchange?.token.price ?? "no sample")]).toEqual([200, true]);
  expect((await get(rest, "/token/mars/0xab01")).statusCode).toBe(404);
});

test("flares of other groups and their tokens have pages and pictures, which state why they lack prices", async ({
  serve,
}) => {
  const rest = await serve();
  const { id, token } = SAMPLE_EXCHANGE_FLARE;
  const page = await get(rest, `/flare/${id}`);
  expect([page.statusCode, page.body.includes("<g class=")]).toEqual([200, false]);
  for (const text of [
    "<title>BTC/USDT · binance is flaring",
    "BTC/USDT</bdi>",
    '<span class="tag">binance</span>',
    "stored for BSC only",
    `href="../token/exchange/${token.symbol}"`,
  ])
    expect(page.body).toContain(text);
  const ofToken = (await get(rest, `/token/exchange/${token.symbol}`)).body;
  const [ended] = SAMPLE_SNAPSHOT["flares.exchange"].finished_trending;
  for (const text of ["Flaring now", `../../flare/${ended?.id}`]) expect(ofToken).toContain(text);
  for (const path of [`/flare/${id}`, `/token/exchange/${token.symbol}`]) {
    const picture = await get(rest, `${path}/picture.png`);
    expect([picture.statusCode, picture.headers["content-type"]]).toEqual([200, "image/png"]);
  }
});

test("[K1] the page of a running flare shows no more than the plan", async ({ serve }) => {
  const open = await serve();
  const page = await get(open, `/flare/${RUNNING}`);
  expect([page.statusCode, page.body.includes("Flaring now")]).toEqual([200, true]);
  expect((await get(open, "/token/bsc/0xab02")).body).toContain("Flaring now");
  const keyed = await serve({ policy: FREE });
  const hidden = await get(keyed, `/flare/${RUNNING}`);
  expect([hidden.statusCode, hidden.headers["cache-control"]]).toEqual([404, "no-store"]);
  expect((await get(keyed, "/token/bsc/0xab02")).statusCode).toBe(404);
  expect((await get(keyed, `/flare/${idOf(7)}`)).headers.vary).toBe("Accept-Encoding, Authorization");
});

test("[K1] if the server requires a key, a page without one states who issues keys and links to the dashboard's page", async ({
  serve,
}) => {
  const admit = () => {
    throw new FlarewireError("unauthorized", "missing API key");
  };
  const closed = await serve({ policy: { ...allowAll, isKeyed: true, admit } });
  const flare = await get(closed, `/flare/${idOf(7)}`);
  expect([flare.statusCode, flare.headers["cache-control"]]).toEqual([401, "no-store"]);
  expect(flare.body).toContain("The operator of this server issues keys.");
  expect(flare.body).toContain('<a class="primary" href="../">');
  expect(flare.body).toContain('<a href="../docs/operating#keys">');
  expect((await get(closed, "/token/bsc/0xab02")).body).toContain('href="../../#/token/bsc/0xab02"');
  expect((await get(closed, "/token/exchange/A")).body).toContain('href="../../#/token/exchange/A"');
  expect((await get(closed, "/flare/x", { accept: "*/*" })).json().type).toContain("unauthorized");
});

test("HEAD and a known entity tag get no body", async ({ serve }) => {
  const rest = await serve();
  const { headers } = await get(rest, `/flare/${idOf(7)}`);
  const head = await get(rest, `/flare/${idOf(7)}`, {}, "HEAD");
  expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, "", headers.etag]);
  const known = await get(rest, `/flare/${idOf(7)}`, { "if-none-match": headers.etag });
  expect([known.statusCode, known.body]).toEqual([304, ""]);
});

test("a browser gets a page for an unknown flare and before there is data; a program gets a problem", async ({
  serve,
}) => {
  const rest = await serve();
  const missing = await get(rest, "/flare/nothing");
  expect([missing.statusCode, missing.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
  expect(missing.body).toContain('<a class="primary" href="../">Open the dashboard</a>');
  const problem = await get(rest, "/flare/nothing", { accept: "*/*" });
  expect([problem.statusCode, problem.headers["content-type"]]).toEqual([404, "application/problem+json"]);
  rest.head.ready = false;
  const early = await get(rest, `/flare/${idOf(7)}`);
  expect([early.statusCode, early.headers["retry-after"]]).toEqual([503, "5"]);
  expect(early.body).toContain("Try again in a minute.");
});

test("previews get the absolute URL of the page and of its picture, only under a name of this server", async ({
  serve,
}) => {
  const path = `/flare/${idOf(7)}`;
  const tags = async (rest: Rest, headers: object = {}) =>
    [...(await get(rest, path, headers)).body.matchAll(/property="og:(url|image)" content="([^"]*)"/g)].map(
      ([, , url]) => url,
    );
  const both = (base: string) => [`${base}${path}`, `${base}${path}/picture.png`];
  const rest = await serve({ settings: { allowedHosts: ["flares.example", "*"] } });
  expect(await tags(rest)).toEqual(both("http://127.0.0.1:8080"));
  expect(await tags(rest, { host: "Flares.example" })).toEqual(both("http://flares.example"));
  // The host is only the client's claim.
  for (const host of ["evil.example", ...HOSTILE_HOSTS])
    expect([host, await tags(rest, { host })]).toEqual([host, []]);
  // A name that ends with a number is valid in no URL.
  const numbered = await serve({ settings: { allowedHosts: ["flares.1"] } });
  expect(await tags(numbered, { host: "flares.1" })).toEqual([]);
  const behind = await serve({ settings: { trustProxy: true } });
  const forwarded = { "x-forwarded-host": "app.localhost", "x-forwarded-proto": "https" };
  expect(await tags(behind, forwarded)).toEqual(both("https://app.localhost"));
  for (const protocol of HOSTILE_PROTOCOLS)
    expect([protocol, await tags(behind, { ...forwarded, "x-forwarded-proto": protocol })]).toEqual([
      protocol,
      [],
    ]);
  const known = await serve({ settings: { publicUrl: "https://a.example/b" } });
  expect(await tags(known, { host: "evil.example" })).toEqual(both("https://a.example/b"));
});

test("a token's symbol and other spellings of its address redirect to its page, until another token has the symbol", async ({
  serve,
}) => {
  const rest = await serve();
  for (const name of ["0XAB01", "0xAb01", encodeURIComponent(NASTY)]) {
    const { statusCode, headers } = await get(rest, `/token/bsc/${name}?utm_source=x`);
    expect([statusCode, headers.location]).toEqual([307, "../../token/bsc/0xab01"]);
    expect(headers["cache-control"]).toBe("no-store");
  }
  const { headers } = await get(rest, "/token/bsc/0xab01");
  expect(headers.location).toBeUndefined();
});

test("the picture of a flare or token is a PNG with a strong tag, also for HEAD and a known tag", async ({
  serve,
}) => {
  const rest = await serve();
  for (const path of [`/flare/${idOf(7)}/picture.png`, "/token/bsc/0xab01/picture.png"]) {
    const { statusCode, headers, rawPayload } = await get(rest, path, { "accept-encoding": "br" });
    expect([path, statusCode, headers["content-type"]]).toEqual([path, 200, "image/png"]);
    expect(headers["content-encoding"]).toBeUndefined();
    expect(rawPayload.subarray(1, 4).toString()).toBe("PNG");
    const known = await get(rest, path, { "if-none-match": headers.etag });
    expect([known.statusCode, known.body, known.headers.etag]).toEqual([304, "", headers.etag]);
    const head = await get(rest, path, {}, "HEAD");
    expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, "", headers.etag]);
  }
  expect((await get(rest, "/flare/nothing/picture.png", { accept: "*/*" })).statusCode).toBe(404);
});

test("[K1] pictures show no more than the plan", async ({ serve }) => {
  const path = `/flare/${RUNNING}/picture.png`;
  expect((await get(await serve(), path)).statusCode).toBe(200);
  expect((await get(await serve({ policy: FREE }), path)).statusCode).toBe(404);
});

test("a picture beyond the maximum number is refused with 503 and Retry-After", async ({ serve }) => {
  const pictures = new Pictures({ maxWaiting: 0 });
  const { statusCode, headers, json } = await get(await serve({ pictures }), `/flare/${idOf(7)}/picture.png`);
  expect([statusCode, headers["retry-after"], json().type]).toEqual([
    503,
    "5",
    "urn:flarewire:problem:over-capacity",
  ]);
});

test("if the renderer could not be loaded for one page, it is loaded for the next", async ({ serve }) => {
  let failures = 1;
  const load = async () => {
    if (failures-- > 0) throw new Error("too many open files");
    return loadRenderer();
  };
  const rest = await serve({ load });
  const statusOf = async () => (await get(rest, `/flare/${idOf(7)}`)).statusCode;
  expect([await statusOf(), await statusOf()]).toEqual([500, 200]);
});
