import { useMemo, useState } from "preact/hooks";
import type { View } from "../../client/index.ts";
import { FlareRow } from "../parts/flare/flare-row.tsx";
import { Gliding } from "../parts/flare/gliding.tsx";
import { WhyLegend } from "../parts/flare/why-bars.tsx";
import {
  FLARE_LISTS,
  type FlareList,
  SORTS,
  type Sort,
  sortFlares,
  sparksOf,
  wantedFlares,
} from "../state/select-flares.ts";

const LIST_LABELS = { pro: "At once", free: "After 5 minutes", finished_trending: "Finished" } as const;
const SORT_LABELS = {
  newest: "Newest first",
  change: "Greatest rise",
  score: "Highest score",
  liquidity: "Most liquid",
} as const;

const NONE = {
  pro: "No flares right now. New ones appear here.",
  free: "No flare has lasted 5 minutes without a warning. New ones appear here.",
  finished_trending: "No flare finished within the last 24 hours.",
} as const;

/** The current flares, list by list. */
export function FlaresView({ view }: { readonly view: View }) {
  const lists = FLARE_LISTS.filter((name) => view.flares?.[name]);
  const [chosen, setList] = useState<FlareList>("pro");
  const [search, setSearch] = useState("");
  const [sort, setSort] = useState<Sort>("newest");
  const [safe, setSafe] = useState(false);
  const list = lists.includes(chosen) ? chosen : (lists[0] ?? "free");
  const all = view.flares?.[list] ?? [];
  const shown = sortFlares(wantedFlares(all, view.explanations, { search, safe }), view.explanations, sort);
  const showAll = () => {
    setSearch("");
    setSafe(false);
  };
  const charts = view.charts?.bsc;
  const sparks = useMemo(() => sparksOf(charts ?? []), [charts]);
  return (
    <section aria-labelledby="flares-title">
      <h2 id="flares-title">Flares</h2>
      <div class="controls">
        <fieldset class="segments">
          <legend class="unseen">List</legend>
          {lists.map((name) => (
            <label key={name}>
              <input type="radio" name="list" checked={name === list} onChange={() => setList(name)} />
              <span>
                {LIST_LABELS[name]} <small>{view.flares?.[name]?.length ?? 0}</small>
              </span>
            </label>
          ))}
        </fieldset>
        <input
          type="search"
          placeholder="Symbol, name or address"
          aria-label="Search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <label class="choice">
          <span>Order</span>
          <select
            value={sort}
            onChange={(event) =>
              setSort(SORTS.find((name) => name === event.currentTarget.value) ?? "newest")
            }
          >
            {SORTS.map((name) => (
              <option key={name} value={name}>
                {SORT_LABELS[name]}
              </option>
            ))}
          </select>
        </label>
        <label class="choice">
          <input type="checkbox" checked={safe} onChange={(event) => setSafe(event.currentTarget.checked)} />
          <span>Hide warned</span>
        </label>
      </div>
      <WhyLegend />
      {shown.length === 0 ? (
        <p class="empty">
          {all.length === 0 ? NONE[list] : `None of ${all.length} matches your search.  `}
          {all.length > 0 && (
            <button type="button" onClick={showAll}>
              Show all
            </button>
          )}
        </p>
      ) : (
        <table class="rows flares">
          <thead>
            <tr>
              <th scope="col">Token</th>
              <th scope="col" class="hour">
                Hour
              </th>
              <th scope="col">{list === "finished_trending" ? "Ran for" : "Age"}</th>
              <th scope="col">5 min (before)</th>
              <th scope="col">Buys / sells</th>
              <th scope="col">Liquidity</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <Gliding as="tbody" order={shown.map(({ id }) => id).join()}>
            {shown.map((flare) => (
              <FlareRow
                key={flare.id}
                flare={flare}
                why={view.explanations[flare.id]}
                spark={sparks.get(flare.token.address.toLowerCase())}
              />
            ))}
          </Gliding>
        </table>
      )}
    </section>
  );
}
