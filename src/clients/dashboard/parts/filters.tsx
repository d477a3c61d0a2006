import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { flaresHash } from "../route.ts";
import { DEFAULT_QUERY, type FlareQuery } from "../state/flare-query.ts";
import { isSelective, withoutFilters } from "../state/select-flares.ts";
import { go } from "../state/use-route.ts";
import { watchedIn } from "../state/visitor/watched.ts";
import { CHOICES, Groups } from "./groups.tsx";
import { onDemand } from "./on-demand.tsx";
import type { Column } from "./table/column.ts";

/** The liquidity of the chip, in US dollars. */
const PRESET_USD = 50_000;
const MoreFilters = onDemand(async () => (await import("./more-filters.tsx")).MoreFilters);

interface FiltersProps {
  readonly query: FlareQuery;
  /** The columns of the list, which offer its orders. */
  readonly columns: readonly Column<never>[];
  /** Further choices. */
  readonly children?: ComponentChildren;
}

/** Chips that choose the flares of a page. The address contains each choice. */
export function Filters({ query, columns, children }: FiltersProps) {
  const [isOpen, setOpen] = useState(false);
  const watched = watchedIn(query.group);
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
        <div id="more-filters" class="more-filters">
          <MoreFilters query={query} columns={columns} />
        </div>
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

interface HiddenProps {
  readonly query: FlareQuery;
  /** How many flares the filters hide. */
  readonly hidden: number;
  /** How many they leave. */
  readonly shown: number;
}

/** Says how many flares only the filters hide, with a button that shows them. */
export function Hidden({ query, hidden, shown }: HiddenProps) {
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
