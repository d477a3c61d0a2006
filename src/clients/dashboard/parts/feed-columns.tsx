import { formatPct, withWholeUnits } from "../../../base/lib/text/percent.ts";
import { END_TEXTS, isHardToSell } from "../../../base/model/text/end-texts.ts";
import { shortAddress } from "../../../base/model/token-key.ts";
import type { EventMessage } from "../../sdk/index.ts";
import { formatMinutes } from "../../text/span.ts";
import { feedHash, flarePageHref, tokenHash } from "../route.ts";
import { describeEvent, type FeedLine } from "../state/feed/feed-lines.ts";
import { formatMoment } from "../text/format.ts";
import { Measured, TokenName, WhyChips } from "./table/cells.tsx";
import type { Column, TableRow } from "./table/column.ts";

interface FeedRow extends TableRow, FeedLine {
  readonly key: string;
  /** Whether another token in the list has the same symbol, so that the address is shown. */
  readonly isTwin: boolean;
  /** Today's date, such as `2017-11-12`. Lines of today do not repeat it. */
  readonly today: string;
}

interface RawProps {
  /** Shows the event as JSON. */
  readonly onRaw: (event: EventMessage) => void;
}

/** Returns the line with the page that its row opens: the finished flare's or the token's. */
export function rowOfLine(line: FeedLine, isAnonymous: boolean) {
  const { flare, token } = line;
  const ofToken = token ? tokenHash("bsc", token.address) : feedHash(true);
  return { ...line, href: flare ? flarePageHref(flare, isAnonymous) : ofToken };
}

/** A component, because a row does not rerender when the visitor changes the zone. */
function When({ at, today, event, onRaw }: Pick<FeedRow, "at" | "today" | "event"> & RawProps) {
  const moment = formatMoment(at);
  const time = (
    <time dateTime={at} title={at} data-seq={event?.seq}>
      {moment.slice(11)}
    </time>
  );
  return (
    <span class="pair">
      {event ? (
        <button type="button" class="plain" title="Show as JSON" onClick={() => onRaw(event)}>
          {time}
        </button>
      ) : (
        time
      )}
      {!moment.startsWith(today) && <small>{moment.slice(5, 10)}</small>}
    </span>
  );
}

const WHAT: Readonly<Record<string, string>> = {
  "flare-started": "started",
  "flare-surged": "surged",
  "flare-finished": "ended",
  "token-listed": "listed",
};

function What({ name, cause, isAged }: FeedLine) {
  const text = isAged ? "lasted 5 min" : cause ? END_TEXTS[cause] : WHAT[name];
  return <span class={cause === "canary" ? "pill rug" : `pill ${name}`}>{text ?? name}</span>;
}

/** What a finished flare did, in a few figures. Warns of prices at which hardly anyone sold. */
function Ended({ flare, outcome, why }: FeedLine) {
  const lastedMs = flare
    ? Date.parse(flare.finished_trending_at ?? "") - Date.parse(flare.started_trending_at)
    : 0;
  const parts = [
    outcome?.peak_change == null ? "" : `peak ${formatPct(outcome.peak_change)}`,
    outcome?.change_15m == null ? "" : `${formatPct(outcome.change_15m)} after 15 min`,
    outcome?.change_60m == null ? "" : `${formatPct(outcome.change_60m)} after 60 min`,
    outcome?.collapsed_at ? "collapsed" : "",
    lastedMs > 0 ? `lasted ${formatMinutes(lastedMs)}` : "",
  ];
  return (
    <>
      {isHardToSell(why ?? undefined) && <span class="pill warned">⚠ hardly anyone could sell</span>}{" "}
      <span>{withWholeUnits(parts.filter(Boolean).join(", "))}</span>
    </>
  );
}

function isOutcome({ name }: FeedLine): boolean {
  return name === "flare-finished" || name === "flare-outcome";
}

function Words(line: FeedLine) {
  const { why, isNow, event } = line;
  if (isOutcome(line)) return <Ended {...line} />;
  const text = isNow ? "still flaring, now:" : event ? describeEvent(event) : "";
  return (
    <>
      {text !== "" && <span title={text}>{withWholeUnits(text)}</span>} <WhyChips why={why ?? undefined} />
    </>
  );
}

/** The change that a line states, and since when. */
function changeOf(line: FeedLine): readonly [pct: number | null | undefined, of: string] {
  if (isOutcome(line)) return [line.outcome?.end_change, "at the end"];
  const { name, flare, event } = line;
  const isNews = name === "flare-started" || name === "flare-surged";
  // Without the event, the flare is known as it is now or was at its end.
  return [isNews && event ? flare?.recent_price_change : undefined, "in 5 min"];
}

export function feedColumns(hasUpdates: boolean, onRaw: RawProps["onRaw"]): readonly Column<FeedRow>[] {
  return [
    {
      key: "when",
      title: "Time",
      width: "64px",
      isText: true,
      cell: (row) => <When {...row} onRaw={onRaw} />,
    },
    {
      key: "what",
      title: "What",
      width: "144px",
      isText: true,
      cell: (row) =>
        hasUpdates ? (
          <span class="pair">
            <span>{row.name}</span>
            <small>{row.event?.channel}</small>
          </span>
        ) : (
          <What {...row} />
        ),
    },
    {
      key: "token",
      title: "Token",
      width: "minmax(0, 1.2fr)",
      isText: true,
      cell: ({ token, isTwin, href, name, why }) =>
        token ? (
          <TokenName
            symbol={token.symbol}
            name={token.name}
            href={href}
            tag={isTwin ? shortAddress(token.address) : undefined}
            warnings={name === "flare-started" || name === "flare-surged" ? why?.warnings : undefined}
          />
        ) : (
          "–"
        ),
    },
    {
      key: "change",
      title: "Change",
      width: "84px",
      cell: (row) => {
        const [pct, of] = changeOf(row);
        return (
          pct != null && (
            <span class="pair">
              <Measured pct={pct} why={row.why ?? undefined} />
              <small>{of}</small>
            </span>
          )
        );
      },
    },
    {
      key: "words",
      title: "Why, and what happened",
      width: "minmax(0, 2.4fr)",
      isText: true,
      cell: (row) => <Words {...row} />,
    },
  ];
}
