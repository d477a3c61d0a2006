import type { Counts } from "./tally.ts";

/** A bucket of a table. */
export interface TableRow extends Counts {
  /** The median change after 60 minutes, in percent; `null` if none is known. */
  readonly median: number | null;
}

/** Real flares by bucket. */
export type OddsTable = Readonly<Record<string, TableRow>>;

/** A table as it ships: see its header. */
export type TableRows = Readonly<
  Record<
    string,
    readonly [
      n: number,
      rugged: number,
      ruggedOf: number,
      up15: number,
      up15Of: number,
      up60: number,
      up60Of: number,
      median: number | null,
    ]
  >
>;

export function readTable(rows: TableRows): OddsTable {
  const entries = Object.entries(rows).map(
    ([key, [n, rugged, ruggedOf, up15, up15Of, up60, up60Of, median]]) => {
      const row: TableRow = {
        n,
        rugged: { yes: rugged, of: ruggedOf },
        up15: { yes: up15, of: up15Of },
        up60: { yes: up60, of: up60Of },
        fell15: { yes: 0, of: 0 },
        median,
      };
      return [key, row] as const;
    },
  );
  return Object.fromEntries(entries);
}
