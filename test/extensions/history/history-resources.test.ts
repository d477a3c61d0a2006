import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import type { FastifyRequest } from "fastify";
import { expect } from "vitest";
import type { FlareRecord } from "../../../src/base/model/index.ts";
import { formatCursor } from "../../../src/base/protocol/index.ts";
import {
  createHistoryReader,
  type HistoryStore,
  openSqliteHistoryStore,
} from "../../../src/extensions/history/index.ts";
import { checkRoute } from "../../../src/gateway/http/access/access.ts";
import type { Rest } from "../../gateway/http/rest/rest-fixture.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { planByHeader } from "../../support/servers/plan-by-header.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";
import { finishAt, flareAt, idOf, inGroup, MINUTE_MS, START_MS, whyAt } from "./flare-records.ts";
import { test } from "./history-fixture.ts";

interface Page {
  readonly flares: readonly FlareRecord[];
  readonly next: string | null;
}

let batches = 0;
/** Finishes these flares in that minute. */
function finish(store: HistoryStore, minute: number, ...numbers: number[]): void {
  batches += 1;
  const finishes = numbers.map((number) => finishAt(number, minute));
  store.commit({
    cursor: `test1-${batches}`,
    nowMs: START_MS + minute * MINUTE_MS,
    starts: [],
    finishes,
    outcomes: [],
  });
}

async function getPage(rest: Rest, query = ""): Promise<Page> {
  const { status, json } = await rest.ask("GET", `/api/v1/history${query}`);
  expect(status).toBe(200);
  return json as Page;
}

const idsOf = ({ flares }: Page) => flares.map(({ flare }) => flare.id);

test("the history is newest first, page by page", async ({ served, store }) => {
  expect(await getPage(served)).toEqual({ flares: [], next: null });
  for (const number of [1, 2, 3, 4, 5]) finish(store, 20 + number, number);
  const first = await getPage(served, "?limit=2");
  expect(idsOf(first)).toEqual([idOf(5), idOf(4)]);
  const second = await getPage(served, `?limit=2&cursor=${first.next}`);
  expect(idsOf(second)).toEqual([idOf(3), idOf(2)]);
  const last = await getPage(served, `?limit=2&cursor=${second.next}`);
  expect([idsOf(last), last.next]).toEqual([[idOf(1)], null]);
});

test("a date is its midnight in UTC", async ({ served, store }) => {
  finish(store, 20, 1);
  finish(store, 24 * 60 + 20, 2);
  expect(idsOf(await getPage(served, "?from=2026-01-02"))).toEqual([idOf(2)]);
  expect(idsOf(await getPage(served, "?to=2026-01-02"))).toEqual([idOf(1)]);
});

test("paging returns each stored flare once, while others finish", async ({ makeRest }) => {
  const steps = fc.array(fc.record({ finishes: fc.nat(4), limit: fc.integer({ min: 1, max: 7 }) }), {
    minLength: 40,
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(fc.nat(40), steps, async (before, todo) => {
      const store = openSqliteHistoryStore({ maxAgeMs: 30 * 86_400_000, maxBytes: 2 ** 30 });
      const rest = await makeRest({ history: createHistoryReader(store) });
      let number = 0;
      const more = (count: number) => {
        // Several finish in the same minute, so that pages also end between equal times.
        const minute = 20 + Math.floor(number / 3);
        finish(store, minute, ...Array.from({ length: count }, () => number++));
      };
      more(before);
      const stored = store.page({ limit: 1_000 }).map(({ key }) => key.id);
      const seen: string[] = [];
      let query = "?";
      for (const { finishes, limit } of todo) {
        const page = await getPage(rest, `${query}limit=${limit}`);
        seen.push(...idsOf(page));
        // In later minutes, because event time does not go back.
        number = Math.ceil(number / 3) * 3;
        more(finishes);
        if (page.next === null) break;
        query = `?cursor=${page.next}&`;
      }
      const all = new Set(stored);
      expect(seen.filter((id) => all.has(id))).toEqual(stored);
      expect(new Set(seen).size).toBe(seen.length);
      store.close();
    }),
    lawRuns(3, 25),
  );
});

test("group selects the history of another group, and an id finds a flare of any group", async ({
  served,
  store,
}) => {
  finish(store, 21, 1);
  const { flare, ...rest } = finishAt(2, 22);
  const exchanged = { flare: inGroup(flare, "exchange"), ...rest };
  const nowMs = START_MS + 22 * MINUTE_MS;
  store.commit({ cursor: "test1-x", nowMs, starts: [], finishes: [exchanged], outcomes: [] });
  const record = { ...exchanged, started: null };
  expect(await getPage(served, "?group=exchange")).toEqual({ flares: [record], next: null });
  expect(await getPage(served, "?group=exchange&symbol=tok2")).toEqual({ flares: [record], next: null });
  expect(idsOf(await getPage(served))).toEqual([idOf(1)]);
  expect((await served.ask("GET", `/api/v1/flares/${flare.id}`)).json).toEqual(record);
  const [running] = SAMPLE_SNAPSHOT["flares.exchange"].pro;
  expect((await served.ask("GET", `/api/v1/flares/${running?.id}`)).json).toMatchObject({
    flare: running,
    cause: null,
  });
});

test("[K10] flares of a group need its channels, even after another key has read them", async ({
  makeRest,
  store,
}) => {
  const { flare, ...rest } = finishAt(2, 22);
  const nowMs = START_MS + 22 * MINUTE_MS;
  const finishes = [{ flare: inGroup(flare, "exchange"), ...rest }];
  store.commit({ cursor: "test1-x", nowMs, starts: [], finishes, outcomes: [] });
  const admit = (request: FastifyRequest) => {
    const rights = { plan: undefined, channels: String(request.headers.authorization).split(" ") };
    checkRoute(request, rights);
    return rights;
  };
  const limited = await makeRest({
    history: createHistoryReader(store),
    policy: { ...planByHeader, admit },
  });
  const statusOf = async (path: string, authorization: string) =>
    (await limited.ask("GET", `/api/v1/${path}`, { authorization })).status;
  const [running] = SAMPLE_SNAPSHOT["flares.exchange"].pro;
  const paths = [
    `flares/${flare.id}`,
    `flares/${running?.id}`,
    "history?group=exchange",
    "record?group=exchange",
  ];
  for (const path of paths) {
    expect(await statusOf(path, "flares.exchange.*")).toBe(200);
    for (const other of ["flares.*", "flares.matic.*", "charts.*"])
      expect([path, await statusOf(path, other)]).toEqual([path, 403]);
  }
  for (const path of [`flares/${SAMPLE_FLARE.id}`, "history", "record"]) {
    expect(await statusOf(path, "flares.*")).toBe(200);
    expect([path, await statusOf(path, "flares.exchange.*")]).toEqual([path, 403]);
  }
  expect(await statusOf(`flares/${idOf(404)}`, "flares.*")).toBe(404);
  const symbol = SAMPLE_SNAPSHOT.charts.exchange[0]?.token.symbol;
  expect(await statusOf(`tokens/exchange/${symbol}`, "* candles flares.exchange.*")).toBe(200);
  expect(await statusOf(`tokens/exchange/${symbol}`, "* candles")).toBe(403);
  expect(await statusOf(`tokens/bsc/${SAMPLE_FLARE.token.address}`, "* candles")).toBe(200);
});

test("time, symbol, address and group select flares", async ({ served, store }) => {
  for (const number of [1, 2, 3, 4]) finish(store, 20 + number, number);
  const at = (minute: number) => new Date(START_MS + minute * MINUTE_MS).toISOString();
  expect(idsOf(await getPage(served, `?from=${at(22)}&to=${at(23)}`))).toEqual([idOf(3), idOf(2)]);
  expect(idsOf(await getPage(served, "?symbol=tok1"))).toEqual([idOf(4), idOf(1)]);
  expect(idsOf(await getPage(served, "?address=0XAB02&group=bsc"))).toEqual([idOf(2)]);
  expect(idsOf(await getPage(served, "?address=0xab02&group=matic"))).toEqual([]);
});

test.for([
  ["limit=0", "limit"],
  ["limit=201", "limit"],
  ["from=yesterday", "from"],
  ["to=2026-13-41T00:00:00Z", "to"],
  ["to=2026-02-30", "to"],
  ["group=eth", "group"],
  ["symbol=", "symbol"],
  ["cursor=x", "cursor"],
  ["simbol=x", "simbol"],
] as const)("%s is an invalid parameter", async ([query, field], { served }) => {
  const { status, json } = await served.ask("GET", `/api/v1/history?${query}`);
  expect([status, json]).toEqual([400, expect.objectContaining({ field })]);
});

test("a from after to is a 400 that names both, not an empty page", async ({ served }) => {
  const { status, json } = await served.ask(
    "GET",
    "/api/v1/history?from=2026-02-01T00:00Z&to=2026-01-31T00:00Z",
  );
  const bound = 'at most to, which is "2026-01-31T00:00Z"';
  expect([status, json]).toEqual([400, expect.objectContaining({ field: "from", bound })]);
});

test("an unchanged page or flare gets 304, and a changed one has another tag", async ({ served, store }) => {
  finish(store, 21, 1);
  for (const url of ["/api/v1/history", `/api/v1/flares/${idOf(1)}`]) {
    const { headers } = await served.ask("GET", url);
    const known = { "if-none-match": String(headers.etag) };
    expect((await served.ask("GET", url, known)).status).toBe(304);
    expect((await served.ask("HEAD", url)).headers.etag).toBe(headers.etag);
    finish(store, 22, 2);
    expect((await served.ask("GET", url, known)).status).toBe(url.endsWith("history") ? 200 : 304);
  }
});

test("a running flare has the reason of its start and the current reason", async ({ served, store }) => {
  const started = { ...SAMPLE_EXPLANATION, score: 5 };
  const { id, started_trending_at: at } = SAMPLE_FLARE;
  store.commit({
    cursor: "test1-1",
    nowMs: Date.parse(at),
    starts: [{ id, at, why: started }],
    finishes: [],
    outcomes: [],
  });
  const { status, json } = await served.ask("GET", `/api/v1/flares/${id}`);
  const why = served.head.snapshot.explanations[id] ?? null;
  expect([status, json]).toEqual([200, { flare: SAMPLE_FLARE, started, why, cause: null, outcome: null }]);
});

test("[L2] a flare's record is that at the response's cursor, even if the flare finishes during the read", async ({
  makeRest,
  store,
}) => {
  const reader = createHistoryReader(store);
  const reads = Promise.withResolvers<void>();
  // Stands in for a store that answers late.
  const history = {
    ...reader,
    find: (id: string) => reads.promise.then(() => reader.find(id)),
    started: (id: string) => reads.promise.then(() => reader.started(id)),
  };
  const rest = await makeRest({ history });
  const [running, { flare }] = [flareAt(1, 10), finishAt(1, 20)];
  rest.head.move({ flares: { free: [], pro: [running], finished_trending: [] } });
  const answer = rest.ask("GET", `/api/v1/flares/${flare.id}`);
  await turn();
  rest.head.move({ flares: { free: [], pro: [], finished_trending: [flare] } });
  reads.resolve();
  const { headers, json } = await answer;
  expect(headers["flarewire-cursor"]).toBe(formatCursor(rest.head.cursor));
  expect(json).toEqual(expect.objectContaining({ flare }));
});

test("a flare that just finished is found before the history stores it", async ({ served }) => {
  const { flare, why, outcome } = finishAt(1, 20);
  served.head.move({
    flares: { free: [], pro: [], finished_trending: [flare] },
    explanations: { [flare.id]: whyAt(20, true) },
    ...(outcome ? { outcomes: { [flare.id]: outcome } } : {}),
  });
  const { json } = await served.ask("GET", `/api/v1/flares/${flare.id}`);
  expect(json).toEqual({ flare, started: null, why, cause: "faded", outcome });
});

test("the plan free finds a flare that runs in pro only once it has finished", async ({
  makeRest,
  store,
}) => {
  const rest = await makeRest({ history: createHistoryReader(store), policy: planByHeader });
  const flare = flareAt(7, 10);
  rest.head.move({
    flares: { free: [], pro: [flare], finished_trending: [] },
    explanations: { [flare.id]: whyAt(10) },
  });
  const get = async (authorization: string) =>
    (await rest.ask("GET", `/api/v1/flares/${flare.id}`, { authorization })).status;
  expect([await get("pro"), await get("free")]).toEqual([200, 404]);
  rest.head.move({ flares: { free: [], pro: [], finished_trending: [] }, explanations: {} });
  finish(store, 20, 7);
  expect([await get("pro"), await get("free")]).toEqual([200, 200]);
});

test("an unknown flare is not found, and other methods are rejected", async ({ served }) => {
  const url = `/api/v1/flares/${idOf(404)}`;
  expect((await served.ask("GET", url)).status).toBe(404);
  expect((await served.ask("GET", `${url}?limit=1`)).status).toBe(400);
  const refused = await served.ask("POST", url);
  expect([refused.status, refused.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
});

test("before the first snapshot, both resources are not ready", async ({ served }) => {
  served.head.ready = false;
  for (const url of ["/api/v1/history", `/api/v1/flares/${idOf(1)}`])
    expect((await served.ask("GET", url)).status).toBe(503);
});
