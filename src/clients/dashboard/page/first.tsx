import { renderToString } from "preact-render-to-string";
import { tokenPath } from "../../../base/lib/text/page-path.ts";
import { tokenOf } from "../../../base/model/key-of.ts";
import { Headline } from "../parts/headline.tsx";
import { FIRST, rowOf } from "../parts/table/flare-columns.tsx";
import { classOf } from "../parts/table/token-table.tsx";
import { DEFAULT_QUERY, type FlareChannel, LIST_OF_CHANNEL } from "../state/flare-query.ts";
import type { FlareLists } from "../state/group/flare-lists.ts";
import { type MarketKind, renderedMarket, renderedMs } from "../state/store.ts";
import { barsOf } from "../state/timeline/bars.ts";

/** More rows would delay the script on a slow line. */
const MAX_ROWS = 15;

interface FirstOptions {
  /** The flares that anyone may see. */
  readonly lists: FlareLists;
  readonly channel: FlareChannel;
  readonly kind: MarketKind;
  /** Event time. */
  readonly nowMs: number;
}

/**
 * Renders what flares now, for visitors whose script has not loaded, or never will. The dashboard
 * shows it until its stream has begun.
 */
export function renderFirst({ lists, channel, kind, nowMs }: FirstOptions): string {
  renderedMarket.value = kind;
  renderedMs.value = nowMs;
  const flares = lists.flares?.[LIST_OF_CHANNEL[channel]] ?? [];
  const rows = flares.slice(0, MAX_ROWS).map((flare) => ({
    ...rowOf({ flare, why: lists.explanations[flare.id] }),
    href: tokenPath("bsc", tokenOf(flare)),
  }));
  return renderToString(
    <>
      <Headline query={{ ...DEFAULT_QUERY, channel }} running={flares.length} bars={barsOf(lists, [])} />
      {/* The policy of the page allows no styles here, so the style sheet has the widths. */}
      {rows.length > 0 && (
        <table class="tokens first">
          <thead>
            <tr>
              {FIRST.map(({ key, title, isText }) => (
                <th key={key} scope="col" class={classOf(key, isText)}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                {FIRST.map(({ key, isText, cell }) => (
                  <td key={key} class={classOf(key, isText)}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>,
  );
}
