import { useContext } from "preact/hooks";
import { formatChange } from "../../../../base/lib/text/percent.ts";
import { flarePageHref } from "../../route.ts";
import type { Bar } from "../../state/timeline/bars.ts";
import { fateText } from "../../text/fate-text.ts";
import { IsAnonymous } from "../market.ts";
import { TimeText } from "../time-text.tsx";
import { UntrustedText } from "../untrusted-text.tsx";

export interface TimelineTableProps {
  readonly bars: readonly Bar[];
}

/** The bars of the timeline as a table. */
export function TimelineTable({ bars }: TimelineTableProps) {
  const isAnonymous = useContext(IsAnonymous);
  return (
    <section class="table-scroll" aria-label="The flares of the timeline as a table">
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">Token</th>
            <th scope="col">Started</th>
            <th scope="col">Status</th>
            <th scope="col">Peak</th>
            <th scope="col">End</th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.flare.id}>
              <th scope="row">
                <a href={flarePageHref(bar.flare, isAnonymous)}>
                  <UntrustedText text={bar.flare.token.symbol} />
                </a>
              </th>
              <td>
                <TimeText at={bar.flare.started_trending_at} />
              </td>
              <td>{fateText(bar)}</td>
              <td>{formatChange(bar.outcome?.peak_change, 0)}</td>
              <td>{formatChange(bar.outcome?.end_change, 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
