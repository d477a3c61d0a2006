import { Component } from "preact";
import type { Order } from "../../state/flare-query.ts";
import { sortRows } from "../../state/select-flares.ts";
import { Gliding } from "../flare/gliding.tsx";
import type { Column, TableRow } from "./column.ts";

interface TokenTableProps<Row extends TableRow> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Further classes of the table. */
  readonly kind: string;
  readonly order?: Order;
  /** Absent if the table cannot be sorted. */
  readonly onOrder?: (order: Order) => void;
}

/** The only table of tokens. Columns that do not fit are hidden, and numbers are never cut. */
export function TokenTable<Row extends TableRow>({
  columns,
  rows,
  kind,
  order,
  onOrder,
}: TokenTableProps<Row>) {
  const sorted = order === undefined ? rows : sortRows(rows, columns, order);
  const dangers = sorted.filter(({ isDanger }) => isDanger);
  const others = sorted.filter(({ isDanger }) => !isDanger);
  const tracks = columns.map(({ key, width }) => `var(--of-${key}, ${width})`).join(" ");
  const body = (part: readonly Row[]) =>
    part.map((row) => <Line key={row.key} row={row} columns={columns} />);
  return (
    <table class={`tokens ${kind}`} style={{ "--columns": tracks }}>
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={column.key} column={column} order={order} onOrder={onOrder} />
          ))}
        </tr>
      </thead>
      {dangers.length > 0 && (
        <tbody class="dangers">
          <tr class="heading">
            <th scope="rowgroup">Being drained now: {dangers.length}</th>
          </tr>
          {body(dangers)}
        </tbody>
      )}
      <Gliding order={others.map(({ key }) => key).join()}>{body(others)}</Gliding>
    </table>
  );
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly order: Order | undefined;
  readonly onOrder: ((order: Order) => void) | undefined;
}

function Head<Row>({ column: { key, title, isText, order: own }, order, onOrder }: HeadProps<Row>) {
  const isSorted = own !== undefined && own === order;
  const direction = own === "newest" ? "ascending" : "descending";
  return (
    <th scope="col" class={classOf(key, isText)} aria-sort={isSorted ? direction : undefined}>
      {own !== undefined && onOrder ? (
        <button type="button" class="sort" onClick={() => onOrder(own)}>
          {title}
          {isSorted && <span aria-hidden="true">{direction === "ascending" ? " ↑" : " ↓"}</span>}
        </button>
      ) : title === "" ? (
        <span class="unseen">{key}</span>
      ) : (
        title
      )}
    </th>
  );
}

/** Returns the classes of a column's cells. */
export function classOf(key: string, isText: boolean | undefined): string {
  return isText ? key : `${key} number`;
}

interface LineProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
}

/** One row. Rerenders only for its own changes, because events are frequent. */
class Line<Row extends TableRow> extends Component<LineProps<Row>> {
  override shouldComponentUpdate({ row, columns }: LineProps<Row>): boolean {
    if (columns !== this.props.columns) return true;
    const before = new Map(Object.entries(this.props.row));
    return Object.entries(row).some(([name, value]) => value !== before.get(name));
  }

  override render({ row, columns }: LineProps<Row>) {
    return (
      <tr onClick={this.#open}>
        {columns.map(({ key, isText, cell }) =>
          key === "token" ? (
            <th key={key} scope="row" class={key}>
              {cell(row)}
            </th>
          ) : (
            <td key={key} class={classOf(key, isText)}>
              {cell(row)}
            </td>
          ),
        )}
      </tr>
    );
  }

  /** Opens the row's page, unless the visitor used a control in it or selected text. */
  readonly #open = ({ target }: MouseEvent): void => {
    if (target instanceof Element && target.closest("a, button")) return;
    if (getSelection()?.isCollapsed !== false) location.assign(this.props.row.href);
  };
}
