import type { View } from "../../client/index.ts";
import type { LeaderboardEntry } from "../../model/index.ts";
import { formatPrice, formatSpan } from "../format.ts";
import { GROUP_LABELS, GROUP_NAMES } from "../group-labels.ts";
import { TokenName } from "../parts/stranger.tsx";

/** By group the ten that were longest in the chart over the past six hours. */
export function LeaderboardsView({ view }: { readonly view: View }) {
  return (
    <div class="groups">
      {GROUP_NAMES.map((group) => (
        <section key={group} aria-labelledby={`board-${group}`}>
          <h2 id={`board-${group}`}>{GROUP_LABELS[group]}</h2>
          <Board entries={view.leaderboards?.[group] ?? []} />
        </section>
      ))}
    </div>
  );
}

function Board({ entries }: { readonly entries: readonly LeaderboardEntry[] }) {
  if (entries.length === 0) return <p class="empty">Nobody was in the chart.</p>;
  return (
    <ol class="ranks board">
      {entries.map((entry) => {
        const token = entry.type === "flare" ? entry.object.token : entry.object;
        const address = "address" in token ? String(token.address) : undefined;
        return (
          <li key={address ?? token.symbol}>
            <TokenName symbol={token.symbol} address={entry.type === "flare" ? address : undefined} />
            <b>{formatSpan(entry.time_trended * 1_000)}</b>
            <small>rank {entry.average_position.toFixed(1)} on average</small>
            <span class="price">{formatPrice(token.price)}</span>
          </li>
        );
      })}
    </ol>
  );
}
