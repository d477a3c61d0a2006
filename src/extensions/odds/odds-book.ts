import type { Origin } from "../../base/market/index.ts";
import type { Explanation, Odds, Outcome } from "../../base/model/index.ts";
import { type Bucket, keysOf, pathOf } from "./buckets.ts";
import { estimateShare, medianOf } from "./estimate.ts";
import type { FlareStart } from "./flare-start.ts";
import type { OddsTable, TableRow } from "./odds-table.ts";
import { addOutcome, createTally, type Tally } from "./tally.ts";

/** The tallies of a server's own flares, by group and bucket. Plain data. */
type BookState = Record<string, Record<string, Tally>>;

type CountsOf = (key: string) => TableRow | undefined;

/** A server's own flares replace the table from this number in the bucket on. */
const MIN_OWN = 100;
/** Where no table applies, they count from here on. The interval shows how little that is. */
const MIN_ALONE = 30;
/** A bucket of the table with fewer flares gives way to the coarser one. */
const MIN_TABLE = 10;

/**
 * Tells how flares like a new one ended: those of this server if there are enough, else those of
 * the table. Like it are those of its bucket.
 */
export class OwnOdds {
  readonly #origin: Origin;
  readonly #table: OddsTable;
  readonly #state: BookState;

  /** @param state From a checkpoint. */
  constructor(origin: Origin, table: OddsTable, state?: unknown) {
    this.#origin = origin;
    this.#table = table;
    // Only this class writes the state.
    this.#state = structuredClone((state as BookState | undefined) ?? {});
  }

  get state(): BookState {
    return this.#state;
  }

  odds(start: FlareStart): Pick<Explanation, "odds" | "odds_reason"> {
    const own = this.#state[start.group] ?? {};
    const path = pathOf(start);
    const ofOwn: CountsOf = (key) => own[key] && { ...own[key], median: medianOf(own[key].changes) };
    const ofTable: CountsOf = (key) => (this.#origin === "simulated" ? undefined : this.#table[key]);
    // A flare is not like one of a token of another age, even if all else is unknown.
    const least = path.findIndex(({ ranges }) => "age_s" in ranges) + 1;
    const filled = (countsOf: CountsOf, min: number) => {
      const buckets = fill(path, countsOf, min);
      return buckets.length < least ? [] : buckets;
    };
    const table = filled(ofTable, MIN_TABLE);
    const server = filled(ofOwn, table.length > 0 ? MIN_OWN : MIN_ALONE);
    // A coarse bucket of its own would say less than a fine one of the table.
    if (server.length > 0 && server.length >= table.length)
      return { odds: describe(start, "server", server) };
    if (table.length > 0) return { odds: describe(start, "table", table) };
    return {
      odds: null,
      odds_reason: this.#reason(start, own[path[Math.max(0, least - 1)]?.key ?? ""]?.n ?? 0),
    };
  }

  /** Notes a final outcome. */
  note(start: FlareStart, outcome: Outcome): void {
    if (!outcome.held) return;
    const own = this.#state[start.group] ?? {};
    this.#state[start.group] = own;
    for (const key of keysOf(start)) {
      const tally = own[key] ?? createTally();
      own[key] = tally;
      addOutcome(tally, outcome, start.liquidityUsd !== null);
    }
  }

  #reason({ form, group }: FlareStart, n: number): string {
    const needed = `this server has the outcomes of ${n} flares like it in ${group}; odds need ${MIN_ALONE}`;
    if (form !== "trades") return `no real flares of this form were measured, and ${needed}`;
    return this.#origin === "simulated"
      ? `the market is simulated, so the table of real pools does not apply, and ${needed}`
      : needed;
  }
}

type Filled = Bucket & { readonly counts: TableRow };

/** Returns the buckets from the coarsest to the finest that has at least `min` flares. */
function fill(path: readonly Bucket[], countsOf: CountsOf, min: number): readonly Filled[] {
  const filled: Filled[] = [];
  for (const bucket of path) {
    const counts = countsOf(bucket.key);
    if (!counts || counts.n < min) break;
    filled.push({ ...bucket, counts });
  }
  return filled;
}

function describe(
  { group, form = "trades" }: FlareStart,
  basis: Odds["basis"],
  path: readonly Filled[],
): Odds {
  const share = (of: "rugged" | "up15" | "up60" | "fell15") =>
    estimateShare(path.map(({ counts }) => counts[of]));
  const finest = path.at(-1);
  const isExchange = form === "candles" || form === "seconds";
  return {
    basis,
    like: { form, ...(basis === "server" ? { group } : {}), ...finest?.ranges },
    n: finest?.counts.n ?? 1,
    rug_60m: isExchange ? null : share("rugged"),
    up_15m: isExchange ? null : share("up15"),
    up_60m: isExchange ? null : share("up60"),
    ...(isExchange ? { fall_15m: share("fell15") } : {}),
    median_60m: finest?.counts.median ?? null,
  };
}
