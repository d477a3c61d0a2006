import { expect } from "vitest";
import type { LiquidityEvent, ListingEvent } from "../../../src/base/market/index.ts";
import { PastFill } from "../../../src/feeds/chain/past-fill.ts";
import { test } from "../../support/time/still-running.ts";
import { NodePool } from "./nodes/node-pool.ts";

const pool = { group: "bsc", pool: "0xp", token: "0xa" } as const;
const removal: LiquidityEvent = { kind: "liquidity", at: 1_000, ...pool, usd: "1", cause: "remove" };
const other: LiquidityEvent = { ...removal, pool: "0xq", usd: "2" };
const listing: ListingEvent = { kind: "listing", at: 1_000, ...pool, liquidity: "3" };

test("[past] past liquidity becomes a `sync`, and liquidity that the present reported takes precedence", async () => {
  await using run = new NodePool([]);
  const read = { number: 1, atMs: 1_000, logs: [], transfers: new Map(), lockerLogs: new Map() };
  const block = { number: 1, atMs: 1_000, logs: [], hash: "0x1", parentHash: "0x0" };
  const fill = new PastFill({
    pool: run.pool,
    fromMs: 0,
    toMs: 2_000,
    isIdle: () => true,
    open: async () =>
      (async function* () {
        yield { block, read, isReplacement: false };
      })(),
    translate: () => [removal, other, listing],
  });
  fill.note({ ...removal, at: 2_000, usd: "9", cause: "sync" });
  await fill.run(run.signal);
  expect(fill.take(5_000)).toEqual([
    { ...other, at: 5_000, cause: "sync" },
    { ...listing, at: 5_000, listedAt: 1_000, liquidity: "9" },
  ]);
  expect([fill.isDone, fill.readMs]).toEqual([true, 2_000]);
});
