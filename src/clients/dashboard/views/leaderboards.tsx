import type { GroupName } from "../../../base/model/groups.ts";
import type { LeaderboardEntry } from "../../../base/model/index.ts";
import { tokenOf } from "../../../base/model/key-of.ts";
import type { View } from "../../sdk/index.ts";
import { Gliding } from "../parts/flare/gliding.tsx";
import { Price } from "../parts/flare/price.tsx";
import { Groups, type GroupsProps } from "../parts/groups.tsx";
import { usePriceWords } from "../parts/market.ts";
import { TokenName } from "../parts/untrusted-text.tsx";
import { tokenHash } from "../route.ts";
import { formatSpan } from "../text/span.ts";

/** The ten tokens of each group with the longest time in the chart over the past six hours. */
export function LeaderboardsView({ view, ...props }: { readonly view: View } & Omit<GroupsProps, "page">) {
  return (
    <>
      <h2>Leaderboards</h2>
      <p class="legend">
        How long each token was in the chart of its group over the past six hours. Each row also shows the
        token's mean rank and its {usePriceWords()}.
      </p>
      <Groups page="leaderboards" {...props}>
        {(group) => <Board group={group} entries={view.leaderboards?.[group] ?? []} />}
      </Groups>
    </>
  );
}

interface BoardProps {
  readonly group: GroupName;
  readonly entries: readonly LeaderboardEntry[];
}

function Board({ group, entries }: BoardProps) {
  if (entries.length === 0) return <p class="empty">No token was in the chart within the past six hours.</p>;
  return (
    <Gliding as="ol" class="ranks board" order={entries.map(keyOf).join()}>
      {entries.map((entry) => {
        const token = tokenIn(entry);
        return (
          <li key={keyOf(entry)}>
            <TokenName symbol={token.symbol} href={tokenHash(group, keyOf(entry))} />
            <b>{formatSpan(entry.time_trended * 1_000)}</b>
            <small class="more">rank {entry.average_position.toFixed(1)} on average</small>
            <Price value={token.price} />
          </li>
        );
      })}
    </Gliding>
  );
}

function tokenIn(entry: LeaderboardEntry) {
  return entry.type === "flare" ? entry.object.token : entry.object;
}

function keyOf(entry: LeaderboardEntry): string {
  return tokenOf({ token: tokenIn(entry) });
}
