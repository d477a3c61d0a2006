import { createReadStream, createWriteStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { createGunzip, createGzip, gunzipSync } from "node:zlib";
import { HOUR_MS } from "../../../src/base/lib/time/time.ts";
import { lockersOf } from "../../../src/feeds/chain/locks/lockers.ts";
import { isNews, LpHolders, type LpShares } from "../../../src/feeds/chain/locks/lp-holders.ts";

/*
 * Adds who holds the LP tokens to a recording of Ethereum's pools, so that a replay knows it:
 *
 *     node test/tools/evaluate/lp-locks.ts RECORDING.ndjson.gz LP-TRANSFERS.csv.gz OUT.ndjson.gz
 *
 * The transfers (at_ms,pool,from,to,value) have no terms, so `until` is null.
 */

/** What one transfer made known about a pool. */
interface Change {
  readonly at: number;
  readonly pool: string;
  readonly shares: LpShares;
}

interface LpRow {
  readonly at: number;
  readonly pool: string;
  readonly transfer: { readonly from: string; readonly to: string; readonly units: bigint };
}

/** Transfers of one block are closer than this, and blocks are further apart. */
const BLOCK_MS = 1_000;

/** Returns the changes of the pools' holders, oldest first, each at the end of its block. */
export function changesOf(csv: string): readonly Change[] {
  const lockers = lockersOf("ethereum");
  const byPool = Map.groupBy(csv.trim().split("\n").slice(1).map(readRow), ({ pool }) => pool);
  return [...byPool]
    .flatMap(([pool, rows]) => {
      const holders = new LpHolders(pool, lockers);
      let last: LpShares | undefined;
      return rows.flatMap(({ at, transfer }, index): Change[] => {
        holders.transfer(transfer, at);
        const { shares } = holders;
        const isLastOfBlock = (rows[index + 1]?.at ?? Number.POSITIVE_INFINITY) - at >= BLOCK_MS;
        if (!isLastOfBlock || !shares || !isNews(last, shares)) return [];
        last = shares;
        return [{ at, pool, shares }];
      });
    })
    .sort((one, other) => one.at - other.at);
}

function readRow(line: string): LpRow {
  const [at, pool = "", from = "", to = "", units = ""] = line.split(",");
  return { at: Number(at), pool, transfer: { from, to, units: BigInt(units) } };
}

/**
 * After this time a reader may have forgotten a pool, so it is told again with the pool's next
 * liquidity. The live feed does the same.
 */
const AGAIN_MS = 6 * HOUR_MS;

/** Yields the recording's lines, and among them the changes of listed pools. */
export async function* withLocks(
  lines: AsyncIterable<string>,
  changes: readonly Change[],
): AsyncGenerator<string> {
  const listed = new Map<string, { readonly group: string; readonly token: string }>();
  const said = new Map<string, { readonly at: number; readonly change: Change }>();
  let waiting = [...changes];
  const say = (change: Change, at: number) => {
    const { pool, shares } = change;
    const { group, token } = listed.get(pool) ?? {};
    said.set(pool, { at, change });
    return `${JSON.stringify({ kind: "locks", at, group, pool, token, ...shares })}\n`;
  };
  for await (const line of lines) {
    const { kind, at, group, pool, token } = JSON.parse(line);
    const isDue = (change: Change) => listed.has(change.pool) && change.at <= at;
    if (typeof at === "number" && (waiting[0]?.at ?? Number.POSITIVE_INFINITY) <= at) {
      const early = waiting.filter((change) => change.at <= at);
      for (const change of early) if (isDue(change)) yield say(change, change.at);
      waiting = waiting.filter((change) => !isDue(change));
    }
    yield `${line}\n`;
    const last = said.get(pool);
    if (kind === "liquidity" && last && at - last.at >= AGAIN_MS) yield say(last.change, at);
    if (kind !== "listing") continue;
    listed.set(pool, { group, token });
    for (const change of waiting.filter(isDue)) yield say(change, at);
    waiting = waiting.filter((change) => !isDue(change));
  }
}

if (import.meta.main) {
  const [recording, transfers, out] = parseArgs({ allowPositionals: true }).positionals;
  if (!recording || !transfers || !out) throw new Error("usage: lp-locks.ts RECORDING TRANSFERS OUT");
  const changes = changesOf(gunzipSync(readFileSync(transfers)).toString("utf8"));
  const lines = createInterface({ input: createReadStream(recording).pipe(createGunzip()) });
  await pipeline(withLocks(lines, changes), createGzip(), createWriteStream(out));
  process.stdout.write(
    `${changes.length} changes of ${new Set(changes.map(({ pool }) => pool)).size} pools\n`,
  );
}
