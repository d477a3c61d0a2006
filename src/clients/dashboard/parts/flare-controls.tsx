import { useState } from "preact/hooks";
import { formatDuration } from "../../../base/lib/text/quantity.ts";
import type { AnyFlare, Explanation } from "../../../base/model/index.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import {
  FINISH_CAUSES,
  type FlareChannel,
  type FlareQuery,
  LIST_OF_CHANNEL,
  ORDERS,
  type Order,
} from "../state/flare-query.ts";
import { type FlareLists, FULL_FINISHED } from "../state/group/flare-lists.ts";
import { countCauses, isSelective, wantedFlares } from "../state/select-flares.ts";
import { CAUSE_MEANINGS } from "../text/fate-text.ts";
import { AlertsButton } from "./alerts/bell.tsx";
import { Segments } from "./segments.tsx";

/** Names of the lists. A phone has no room for the second part. */
const LIST_LABELS = {
  "flares.pro": ["Running", ""],
  "flares.free": ["After 5 min", "utes"],
  "flares.finished": ["Finished", ""],
} as const satisfies Record<FlareChannel, readonly [string, string]>;
const ORDER_LABELS = {
  newest: "Newest first",
  change: "Greatest rise",
  score: "Highest score",
  liquidity: "Most liquid",
} as const satisfies Record<Order, string>;
const LIQUIDITIES = [10_000, 50_000, 250_000];
const CHANGES = [5, 10, 25];
const LOCKED = [0.5, 0.9];
const AGES = [600, 3_600, 86_400];

const usd = (value: number) => `≥ $${value.toLocaleString("en")}`;
const age = (seconds: number) => `≥ ${formatDuration(seconds * 1_000)}`;
const share = (value: number) => `≥ ${Math.round(100 * value)} %`;
const percent = (value: number) => `≥ ${value} %`;

interface FlareControlsProps {
  readonly query: FlareQuery;
  /** Lists that the visitor may see. */
  readonly channels: readonly FlareChannel[];
  readonly view: FlareLists;
  /** Tokens on the watch list. */
  readonly watched: ReadonlySet<string>;
  readonly onQuery: (query: FlareQuery, how: "push" | "replace") => void;
}

/** Controls that choose the flares. The page's address contains each choice. */
export function FlareControls({ query, channels, view, watched, onQuery }: FlareControlsProps) {
  // Folded on phones only, where the filters would push all flares off the first screen.
  const [isOpen, setOpen] = useState(false);
  const change = (part: Partial<FlareQuery>) => onQuery({ ...query, ...part }, "push");
  /** Counts what the filters leave of a list, and marks a list that lacks earlier ends. */
  const count = (channel: FlareChannel) => {
    const all = view.flares?.[LIST_OF_CHANNEL[channel]] ?? [];
    const { length } = wantedFlares(all, view.explanations, { ...query, channel, cause: undefined });
    const isCut = channel === "flares.finished" && length >= FULL_FINISHED && length === all.length;
    return isCut ? `last ${length}` : length;
  };
  return (
    <div class="controls">
      <Segments
        legend="List"
        name="list"
        options={channels}
        chosen={query.channel}
        onChoose={(channel) => onQuery({ ...query, channel, cause: undefined }, "push")}
        label={(channel) => (
          <>
            {LIST_LABELS[channel][0]}
            <span class="aside">{LIST_LABELS[channel][1]}</span> <small>{count(channel)}</small>
          </>
        )}
      />
      <AlertsButton label="Alert me" />
      <button
        type="button"
        class="fold"
        aria-expanded={isOpen}
        aria-controls="filters"
        onClick={() => setOpen(!isOpen)}
      >
        Filters{isSelective(query) && " ●"}
      </button>
      <div id="filters" class={isOpen ? "filters" : "filters folded"}>
        <input
          type="search"
          placeholder="Search tokens"
          aria-label="Search"
          value={query.search}
          // A history step for each letter would bury the previous page.
          onInput={(event) => onQuery({ ...query, search: event.currentTarget.value }, "replace")}
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
            onChange={(event) =>
              change({
                order: ORDERS.find((name) => name === event.currentTarget.value) ?? "newest",
              })
            }
          >
            {ORDERS.map((name) => (
              <option key={name} value={name} class={name === "liquidity" ? "of-liquidity" : undefined}>
                {ORDER_LABELS[name]}
              </option>
            ))}
          </select>
        </label>
        <label class="choice">
          <input
            type="checkbox"
            checked={query.hidesWarned}
            onChange={(event) => change({ hidesWarned: event.currentTarget.checked })}
          />
          <span>Hide warned</span>
        </label>
        {watched.size > 0 && query.tokens.length === 0 && (
          <button type="button" onClick={() => change({ tokens: [...watched] })}>
            ★ Watched <small>{watched.size}</small>
          </button>
        )}
        {query.tokens.length + query.symbols.length > 0 && (
          <button type="button" onClick={() => change({ tokens: [], symbols: [] })}>
            {query.tokens.length + query.symbols.length} chosen tokens ✕
          </button>
        )}
      </div>
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

interface CausesProps {
  readonly query: FlareQuery;
  /** All finished flares. */
  readonly flares: readonly AnyFlare[];
  readonly explanations: Readonly<Record<string, Explanation>>;
  readonly onQuery: (query: FlareQuery, how: "push" | "replace") => void;
}

/**
 * Chooses finished flares by why they ended, with the number that the other filters leave of each
 * cause. Offers only causes that a flare has, and the chosen one.
 */
export function Causes({ query, flares, explanations, onQuery }: CausesProps) {
  const matching = wantedFlares(flares, explanations, { ...query, cause: undefined });
  const counts = countCauses(matching, explanations);
  const known = countCauses(flares, explanations);
  const offered = FINISH_CAUSES.filter((cause) => known.has(cause) || cause === query.cause);
  if (offered.length === 0) return null;
  return (
    <Segments
      legend="Why they ended"
      name="cause"
      options={[undefined, ...offered]}
      chosen={query.cause}
      onChoose={(cause) => onQuery({ ...query, cause }, "push")}
      label={(cause) => (
        <span
          class={cause && `fate ${cause === "canary" ? "canary" : "faded"}`}
          title={cause && CAUSE_MEANINGS[cause]}
        >
          {cause === undefined ? "Any end" : END_TEXTS[cause]}{" "}
          <small>{cause === undefined ? matching.length : (counts.get(cause) ?? 0)}</small>
        </span>
      )}
    />
  );
}
