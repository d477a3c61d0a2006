import { expect } from "vitest";
import type { FlareRecord } from "../../../src/base/model/index.ts";
import type { HistoryBatch } from "../../../src/extensions/history/history-records.ts";
import type { HistoryStore } from "../../../src/extensions/history/index.ts";
import { finishAt, flareAt, idOf, MINUTE_MS, outcomeAt, START_MS } from "./flare-records.ts";
import { EMPTY_FLARES, iso, test } from "./past-world.ts";

let batches = 0;
/** Commits a batch this many seconds after the first minute. */
function commit(flares: HistoryStore, seconds: number, batch: Partial<HistoryBatch>): void {
  batches += 1;
  const nowMs = START_MS + seconds * 1_000;
  flares.commit({ cursor: `test1-${batches}`, nowMs, starts: [], finishes: [], outcomes: [], ...batch });
}

interface HistoryPage {
  readonly flares: readonly FlareRecord[];
  readonly next: string | null;
}

const CANDLE = { open: "1", high: "1", low: "1", close: "1", volume: "0", buys: 1, sells: 0 };

test("[T9] a past flare has no later outcome, and is not found before its start", async ({ makeWorld }) => {
  const { market, flares, at } = await makeWorld();
  const finish = finishAt(1, 3);
  const { flare, outcome, why } = finish;
  const path = `/api/v1/flares/${flare.id}`;
  const list = { free: [], pro: [], finished_trending: [] };
  commit(flares, 0, {});
  market.observe(60);
  market.observe(120, { flares: { ...list, pro: [{ ...flare, finished_trending_at: null }] } });
  commit(flares, 120, { starts: [{ id: flare.id, at: iso(120), why }] });
  const listed = { flares: { ...list, finished_trending: [flare] } };
  market.observe(180, { ...listed, outcomes: outcome ? { [flare.id]: outcome } : {} });
  commit(flares, 180, { finishes: [finish] });
  const final = outcomeAt(70, true);
  market.observe(4_200, { ...listed, outcomes: { [flare.id]: final } });
  commit(flares, 4_200, { outcomes: [{ id: flare.id, outcome: final }] });
  market.observe(200_000, EMPTY_FLARES);
  market.observe(200_100);
  expect((await at(60, path)).status).toBe(404);
  expect((await at(120, path)).json).toMatchObject({ started: why, cause: null, outcome: null });
  expect((await at(180, path)).json).toEqual({ ...finish, started: why });
  expect((await at(4_140, path)).json).toEqual({ ...finish, started: why });
  expect((await at(4_200, path)).json).toEqual({ ...finish, started: why, outcome: final });
  expect((await at(200_040, path)).json).toEqual({ ...finish, started: why, outcome: final });
});

test("[T9] a past page of the history has only records that were known then, and so has its next page", async ({
  makeWorld,
}) => {
  const { market, rest, flares, at } = await makeWorld();
  const live = new Map<number, string>();
  for (let minute = 0; minute < 9; minute += 1) {
    if (minute > 0) market.observe(minute * 60);
    commit(flares, minute * 60, { finishes: [finishAt(minute, minute)] });
    const outcome = { id: idOf(minute - 3), outcome: outcomeAt(minute, true) };
    commit(flares, minute * 60, { outcomes: [outcome] });
    live.set(minute, (await rest.ask("GET", "/api/v1/history?limit=3")).body.toString());
  }
  for (let minute = 0; minute < 8; minute += 1)
    expect((await at(minute * 60, "/api/v1/history", "limit=3")).body.toString()).toBe(live.get(minute));
  const ids = async (query: string) => {
    const page = (await at(300, "/api/v1/history", query)).json as HistoryPage;
    return { ids: page.flares.map(({ flare }) => flare.id), next: page.next };
  };
  const first = await ids("limit=3");
  expect(first.ids).toEqual([5, 4, 3].map(idOf));
  expect(await ids(`limit=3&cursor=${first.next}`)).toEqual({ ids: [2, 1, 0].map(idOf), next: null });
  expect((await ids(`from=${iso(60)}&to=${iso(120)}`)).ids).toEqual([2, 1].map(idOf));
});

test("[T9] a past response that needs an expired flare is 410; others stay the same", async ({
  makeWorld,
}) => {
  const { market, flares, at } = await makeWorld({}, { maxAgeMs: 10 * MINUTE_MS });
  for (let minute = 0; minute <= 15; minute += 1) {
    if (minute > 0) market.observe(minute * 60);
    commit(flares, minute * 60, { finishes: [finishAt(minute, minute)] });
  }
  const statuses = async (...paths: readonly (readonly [path: string, query: string])[]) =>
    await Promise.all(paths.map(async ([path, query]) => (await at(480, path, query)).status));
  expect(
    await statuses(
      ["/api/v1/history", "limit=3"],
      ["/api/v1/history", `from=${iso(300)}`],
      ["/api/v1/history", ""],
      ["/api/v1/history", `from=${iso(240)}`],
      [`/api/v1/flares/${idOf(5)}`, ""],
      [`/api/v1/flares/${idOf(4)}`, ""],
      [`/api/v1/flares/${idOf(99)}`, ""],
      ["/api/v1/record", ""],
    ),
  ).toEqual([200, 200, 410, 410, 200, 410, 404, 410]);
  const { json } = await at(480, "/api/v1/history");
  expect(json).toMatchObject({ type: "urn:flarewire:problem:time-gone", field: "at" });
});

test("[T9] past candles have the values of that time, and are 410 once one has expired", async ({
  makeWorld,
}) => {
  const { market, rest, flares, at } = await makeWorld();
  const { token } = flareAt(1, 0);
  const pro = [flareAt(1, 0)];
  const candleAt = (minute: number, volume: string) => ({ ...CANDLE, open_at: iso(minute * 60), volume });
  const live = new Map<number, readonly string[]>();
  const paths = ["/api/v1/candles", `/api/v1/tokens/bsc/${token.address}`];
  const observe = async (minute: number, ...volumes: readonly string[]) => {
    const candles = volumes.map((volume, index) => candleAt(index, volume));
    const bsc = { [token.address]: candles };
    market.observe(minute * 60, {
      flares: { ...EMPTY_FLARES.flares, pro },
      candles: { closed_at: iso(minute * 60), bsc },
    });
    commit(flares, minute * 60, { candles: [{ group: "bsc", address: token.address, candles }] });
    const bodies = paths.map(async (path) => (await rest.ask("GET", path)).body.toString());
    live.set(minute, await Promise.all(bodies));
  };
  await observe(1, "10");
  await observe(2, "10", "20");
  // Includes a trade that was read late.
  await observe(3, "15", "20", "30");
  await observe(4, "15", "20", "30", "40");
  for (const minute of [1, 2, 3]) {
    const past = await Promise.all(paths.map(async (path) => (await at(minute * 60, path)).body.toString()));
    expect(past).toEqual(live.get(minute));
  }
  await observe(5, "15", "20", "30", "40", "50");
  commit(flares, 40 * 86_400, {});
  expect((await at(240, paths[0])).status).toBe(410);
});

test("[T9] a flare that ran then and has expired since is 410, because the reason of its start is no longer stored", async ({
  makeWorld,
}) => {
  const { market, flares, at } = await makeWorld({}, { maxBytes: 5_000 });
  const finish = finishAt(1, 3);
  const { flare, why } = finish;
  const running = { ...flare, finished_trending_at: null };
  commit(flares, 0, {});
  market.observe(60, { flares: { ...EMPTY_FLARES.flares, pro: [running] } });
  commit(flares, 60, { starts: [{ id: flare.id, at: iso(60), why }] });
  market.observe(180, EMPTY_FLARES);
  commit(flares, 180, { finishes: [finish] });
  market.observe(240);
  const paths = [`/api/v1/flares/${flare.id}`, `/api/v1/tokens/bsc/${flare.token.address}`];
  expect((await at(60, paths[0])).json).toMatchObject({ started: why });
  // More than the limit, so that the oldest expires.
  commit(flares, 240, { finishes: [2, 3, 4, 5, 6].map((number) => finishAt(number, 4)) });
  expect(flares.find(flare.id)).toBeUndefined();
  for (const path of paths) expect((await at(60, path)).status).toBe(410);
  expect((await at(60, `/api/v1/flares/${idOf(99)}`)).status).toBe(404);
});
