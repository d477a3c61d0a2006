import { formatDuration } from "../../../base/lib/text/quantity.ts";
import { flaresHash } from "../route.ts";
import { type FlareQuery, ORDERS } from "../state/flare-query.ts";
import { go } from "../state/use-route.ts";
import { SavedViews } from "./saved-views.tsx";
import type { Column } from "./table/column.ts";

const usd = (value: number) => `≥ $${value.toLocaleString("en")}`;
const age = (seconds: number) => `≥ ${formatDuration(seconds * 1_000)}`;
const share = (value: number) => `≥ ${Math.round(100 * value)} %`;
const percent = (value: number) => `≥ ${value} %`;

const MINIMA = [
  {
    of: "minLiquidity",
    label: "Liquidity",
    fact: "of-liquidity",
    values: [10_000, 50_000, 250_000],
    text: usd,
  },
  { of: "minPriceChange", label: "5 min", fact: "", values: [5, 10, 25], text: percent },
  { of: "minAge", label: "Age", fact: "of-trades", values: [600, 3_600, 86_400], text: age },
  { of: "minLocked", label: "Locked", fact: "of-liquidity", values: [0.5, 0.9], text: share },
] as const;

interface MoreFiltersProps {
  readonly query: FlareQuery;
  /** The columns of the list, which offer its orders. */
  readonly columns: readonly Column<never>[];
}

/** The filters that few visitors need, and a search in the list. */
export function MoreFilters({ query, columns }: MoreFiltersProps) {
  const change = (part: Partial<FlareQuery>) => go(flaresHash({ ...query, ...part }), "push");
  const orders = columns.flatMap(({ order, title }) =>
    order === undefined ? [] : [[order, title] as const],
  );
  return (
    <>
      <input
        type="search"
        aria-label="Symbol, name or address"
        placeholder="Symbol, name or address"
        value={query.search}
        // Replaces the address, so that Back does not undo single letters.
        onInput={({ currentTarget }) => go(flaresHash({ ...query, search: currentTarget.value }), "replace")}
      />
      {MINIMA.map(({ of, ...minimum }) => (
        <Minimum key={of} {...minimum} value={query[of]} onValue={(value) => change({ [of]: value })} />
      ))}
      <label class="choice">
        <span>Order</span>
        <select
          value={query.order}
          onChange={({ currentTarget }) =>
            change({ order: ORDERS.find((name) => name === currentTarget.value) ?? "newest" })
          }
        >
          {orders.map(([order, title]) => (
            <option key={order} value={order}>
              {order === "newest" ? "Newest first" : title}
            </option>
          ))}
        </select>
      </label>
      <SavedViews hash={flaresHash(query)} />
    </>
  );
}

interface MinimumProps {
  readonly label: string;
  /** Class that hides the control if the source cannot support it, or none. */
  readonly fact: string;
  readonly values: readonly number[];
  readonly text: (value: number) => string;
  readonly value: number | undefined;
  readonly onValue: (value: number | undefined) => void;
}

/** A choice of a minimum, or of any value. Also offers the current `value` if `values` lacks it. */
function Minimum({ label, fact, values, text, value, onValue }: MinimumProps) {
  const offered = value === undefined || values.includes(value) ? values : [...values, value];
  return (
    <label class={`choice ${fact}`}>
      <span>{label}</span>
      <select
        value={value ?? ""}
        onChange={({ currentTarget }) =>
          onValue(currentTarget.value === "" ? undefined : Number(currentTarget.value))
        }
      >
        <option value="">any</option>
        {offered.map((one) => (
          <option key={one} value={one}>
            {text(one)}
          </option>
        ))}
      </select>
    </label>
  );
}
