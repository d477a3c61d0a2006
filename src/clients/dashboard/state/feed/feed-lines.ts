import type {
  Explanation,
  FinishCause,
  Flare,
  FlareRecord,
  Outcome,
  Token,
} from "../../../../base/model/index.ts";
import type { EventMessage, View } from "../../../sdk/index.ts";
import { valuesText } from "../../../text/values-text.ts";
import type { NamedEvent } from "../seen.ts";
import { isAged, newsKey } from "./news.ts";

/** One line of the feed: an event, or a start or an end from before the server's log. */
export interface FeedLine {
  /** As from `newsKey`. */
  readonly key: string | undefined;
  readonly name: EventMessage["name"];
  readonly at: string;
  /** `undefined` if the event is not about one token, or if its token is unknown. */
  readonly token: Token | undefined;
  readonly flare?: Flare | undefined;
  readonly cause?: FinishCause | null | undefined;
  readonly why?: Explanation | null | undefined;
  readonly outcome?: Outcome | null | undefined;
  /** Whether a flare enters the free list, because it has lasted five minutes. */
  readonly isAged?: boolean;
  /** Whether `why` is of now, and not of the line's moment. */
  readonly isNow?: boolean;
  /** `undefined` if the line is not from the server's log. */
  readonly event?: EventMessage;
}

export function lineOf({ event, token }: NamedEvent): FeedLine {
  const { name, observed_at: at, data } = event;
  const about = "flare" in data ? data : undefined;
  return {
    key: newsKey(event),
    name,
    at,
    token,
    event,
    flare: about && token && { ...about.flare, token },
    isAged: isAged(event),
    cause: name === "flare-finished" ? data.cause : undefined,
    why: "why" in data ? data.why : undefined,
    outcome: "outcome" in data ? data.outcome : undefined,
  };
}

/**
 * Returns the starts and ends of stored finished flares and the starts of running ones, newest
 * first, but none whose key is in `known`.
 */
export function pastLines(
  records: readonly FlareRecord[],
  view: Pick<View, "flares" | "explanations"> | undefined,
  known: ReadonlySet<string | undefined>,
): readonly FeedLine[] {
  const { flares, explanations = {} } = view ?? {};
  const running = (flares?.pro ?? flares?.free ?? []).map((flare) =>
    pastLine("flare-started", flare, flare.started_trending_at, { why: explanations[flare.id], isNow: true }),
  );
  const ended = records.flatMap(({ flare: recorded, started, ...end }) => {
    // The feed follows the flares of `bsc` only.
    const flare = recorded as Flare;
    if (flare.finished_trending_at === null) return [];
    return [
      pastLine("flare-started", flare, flare.started_trending_at, { why: started }),
      pastLine("flare-finished", flare, flare.finished_trending_at, end),
    ];
  });
  return [...running, ...ended]
    .filter(({ key }) => !known.has(key))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

function pastLine(
  name: "flare-started" | "flare-finished",
  flare: Flare,
  at: string,
  more: Pick<FeedLine, "cause" | "why" | "outcome" | "isNow">,
): FeedLine {
  return { key: `${name} ${flare.id}`, name, at, token: flare.token, flare, ...more };
}

/** Describes what an event says beside its name, token, change and reasons. */
export function describeEvent({ name, data }: EventMessage): string {
  switch (name) {
    case "flare-updated":
    case "token-updated":
      if (data.op === "order") return "new order";
      return valuesText(data.set) || ("why" in data && data.why ? "" : "no values");
    case "flare-withdrawn":
      return data.cause;
    case "flare-expired":
      return "left the list of finished flares";
    case "token-listed":
      return "first liquidity";
    case "token-unlisted":
      return "left the list of new tokens";
    case "chart-updated":
    case "leaderboard-updated":
      return data.changes.length === 1 ? "1 change" : `${data.changes.length} changes`;
    case "candles-closed":
      return data.closed_at ?? "";
    case "source-status":
      return [data.state, data.reason].filter(Boolean).join(": ");
    case "flare-started":
    case "flare-surged":
    case "flare-finished":
    case "flare-outcome":
      return "";
  }
}
