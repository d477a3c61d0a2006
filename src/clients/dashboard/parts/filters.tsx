import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatDuration } from "../../../base/lib/text/quantity.ts";
import { flaresHash } from "../route.ts";
import { useAlerts } from "../state/alerts/page-alerts.ts";
import { DEFAULT_QUERY, type FlareQuery, ORDERS } from "../state/flare-query.ts";
import { isSelective, withoutFilters } from "../state/select-flares.ts";
import type { Go } from "../state/use-route.ts";
import { CHOICES, Groups } from "./groups.tsx";
import type { Column } from "./table/column.ts";

/** The liquidity of the chip, in US dollars. */
const PRESET_USD = 50_000;
const LIQUIDITIES = [10_000, PRESET_USD, 250_000];
const CHANGES = [5, 10, 25];
const LOCKED = [0.5, 0.9];
const AGES = [600, 3_600, 86_400];

const usd = (value: number) => `≥ $${value.toLocaleString("en")}`;
const age = (seconds: number) => `≥ ${formatDuration(seconds * 1_000)}`;
const share = (value: number) => `≥ ${Math.round(100 * value)} %`;
const percent = (value: number) => `≥ ${value} %`;

interface FiltersProps {
  readonly query: FlareQuery;
  readonly go: Go;
  /** The group's tokens on the watch list. */
  readonly watched: ReadonlySet<string>;
  /** The columns of the list, which offer its orders. */
  readonly columns: readonly Column<never>[];
  /** Further choices. */
  readonly children?: ComponentChildren;
}

/** Chips that choose the flares of a page. The address contains each choice. */
export function Filters({ query, go, watched, columns, children }: FiltersProps) {
  const [isOpen, setOpen] = useState(false);
  const { alerts } = useAlerts();
  useEffect(() => alerts?.watchListChanged(), [alerts, watched]);
  const change = (part: Partial<FlareQuery>) => go(flaresHash({ ...query, ...part }), "push");
  const chosen = query.tokens.length + query.symbols.length;
  return (
    <div class="filters">
      <Groups
        options={CHOICES}
        chosen={query.group}
        // Search and filters are about tokens of one group. Its list and time apply to all.
        onChoose={(group) => {
          const { channel, at } = query;
          go(flaresHash({ ...DEFAULT_QUERY, group, channel, at }), "push");
        }}
      />
      <fieldset class="chips">
        <legend class="unseen">Filters</legend>
        <Chip
          isOn={!isSelective({ ...query, cause: undefined })}
          onClick={() => change(withoutFilters(query))}
        >
          All
        </Chip>
        <Chip
          isOn={query.hidesWarned}
          title="Without a warning"
          onClick={() => change({ hidesWarned: !query.hidesWarned })}
        >
          Safer
        </Chip>
        <Chip
          isOn={query.minLiquidity === PRESET_USD}
          fact="of-liquidity"
          onClick={() => change({ minLiquidity: query.minLiquidity === PRESET_USD ? undefined : PRESET_USD })}
        >
          ≥ $50K
        </Chip>
        <Chip
          isOn={chosen > 0}
          isDisabled={chosen === 0 && watched.size === 0}
          title="The tokens that you marked with a star"
          onClick={() => change({ tokens: chosen > 0 ? [] : [...watched], symbols: [] })}
        >
          {chosen > 0 ? `${chosen} chosen ✕` : `★ Watched ${watched.size || ""}`}
        </Chip>
        <button
          type="button"
          class="chip"
          aria-expanded={isOpen}
          aria-controls="more-filters"
          onClick={() => setOpen(!isOpen)}
        >
          + Filter
        </button>
      </fieldset>
      {children}
      {isOpen && (
        <MoreFilters
          query={query}
          columns={columns}
          change={change}
          onSearch={(search) => go(flaresHash({ ...query, search }), "replace")}
        />
      )}
    </div>
  );
}

interface ChipProps {
  readonly isOn: boolean;
  readonly isDisabled?: boolean;
  readonly title?: string;
  /** Class that hides the chip if the source cannot support it. */
  readonly fact?: string;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}

function Chip({ isOn, isDisabled = false, title, fact = "", onClick, children }: ChipProps) {
  return (
    <button
      type="button"
      class={`chip ${fact}`}
      aria-pressed={isOn}
      disabled={isDisabled}
      title={title}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

interface MoreFiltersProps extends Pick<FiltersProps, "query" | "columns"> {
  readonly change: (part: Partial<FlareQuery>) => void;
  /** Each key press replaces the address, so that Back does not undo single letters. */
  readonly onSearch: (search: string) => void;
}

function MoreFilters({ query, columns, change, onSearch }: MoreFiltersProps) {
  const orders = columns.flatMap(({ order, title }) =>
    order === undefined ? [] : [[order, title] as const],
  );
  return (
    <div id="more-filters" class="more-filters">
      <input
        type="search"
        aria-label="Symbol, name or address"
        placeholder="Symbol, name or address"
        value={query.search}
        onInput={({ currentTarget }) => onSearch(currentTarget.value)}
      />
      <Minimum
        label="Liquidity"
        fact="of-liquidity"
        values={LIQUIDITIES}
        text={usd}
        value={query.minLiquidity}
        onValue={(minLiquidity) => change({ minLiquidity })}
      />
      <Minimum
        label="5 min"
        values={CHANGES}
        text={percent}
        value={query.minPriceChange}
        onValue={(minPriceChange) => change({ minPriceChange })}
      />
      <Minimum
        label="Age"
        fact="of-trades"
        values={AGES}
        text={age}
        value={query.minAge}
        onValue={(minAge) => change({ minAge })}
      />
      <Minimum
        label="Locked"
        fact="of-liquidity"
        values={LOCKED}
        text={share}
        value={query.minLocked}
        onValue={(minLocked) => change({ minLocked })}
      />
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
    </div>
  );
}

interface MinimumProps {
  readonly label: string;
  /** Class that hides the control if the source cannot support it. */
  readonly fact?: string;
  readonly values: readonly number[];
  readonly text: (value: number) => string;
  readonly value: number | undefined;
  readonly onValue: (value: number | undefined) => void;
}

/** A choice of a minimum, or of any value. Also offers the current `value` if `values` lacks it. */
function Minimum({ label, fact = "", values, text, value, onValue }: MinimumProps) {
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

interface HiddenProps {
  readonly query: FlareQuery;
  /** How many flares the filters hide. */
  readonly hidden: number;
  /** How many they leave. */
  readonly shown: number;
  readonly go: Go;
}

/** Says how many flares only the filters hide, with a button that shows them. */
export function Hidden({ query, hidden, shown, go }: HiddenProps) {
  if (hidden === 0) return null;
  const flares = hidden === 1 ? "flare" : "flares";
  return (
    <p class="empty">
      {shown === 0
        ? hidden === 1
          ? "The only flare does not match your filters."
          : `None of the ${hidden} flares match your filters.`
        : `Your filters hide ${hidden} ${flares}.`}{" "}
      <button type="button" onClick={() => go(flaresHash(withoutFilters(query)), "push")}>
        Show all
      </button>
    </p>
  );
}
