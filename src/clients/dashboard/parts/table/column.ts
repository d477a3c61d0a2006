import type { ComponentChildren } from "preact";
import type { Order } from "../../state/flare-query.ts";

/** What every row has. Cells show the rest. A row rerenders if one of its fields changes. */
export interface TableRow {
  /** Identifies the row while the list changes. */
  readonly key: string;
  /** The page that a click on the row opens. */
  readonly href: string;
  /** Whether the row belongs to the group of dangers, which comes first. */
  readonly isDanger?: boolean;
}

/** One column of a table of tokens. */
export interface Column<Row> {
  /** Also the name of its class, by which narrow screens hide it. */
  readonly key: string;
  readonly title: string;
  /** Its track in the grid. */
  readonly width: string;
  /** Whether it has words. Numbers are aligned at the right. */
  readonly isText?: boolean;
  /** The order in the address by which the table is sorted with this column. */
  readonly order?: Order;
  /** The value to sort by, greatest first; `undefined` comes last. */
  readonly value?: (row: Row) => number | undefined;
  readonly cell: (row: Row) => ComponentChildren;
}
