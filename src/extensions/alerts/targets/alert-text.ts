import { formatDollars, formatPrice } from "../../../base/lib/text/figures.ts";
import { formatPct } from "../../../base/lib/text/percent.ts";
import { safeText } from "../../../base/lib/text/safe-text.ts";
import { groupOfChannel } from "../../../base/model/index.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import { namesInText } from "../../../base/model/text/item-name.ts";
import { lockedPart } from "../../../base/model/text/locked-text.ts";
import { oddsText } from "../../../base/model/text/odds-text.ts";
import { outcomeText } from "../../../base/model/text/outcome-text.ts";
import { whyText } from "../../../base/model/text/why-text.ts";
import type { EventMessage } from "../../../base/protocol/index.ts";
import { type Alert, lateText } from "../alert.ts";

/** Our own text, or a name that a stranger chose: it may contain markup, links and mentions. */
export type Part = string | { readonly name: string };

/** An alert for people. Each service formats it in its own way. */
interface AlertText {
  readonly kind: "started" | "surged" | "finished" | "listed" | "notice";
  readonly title: readonly Part[];
  /** Empty if the title says all. */
  readonly body: readonly Part[];
  /** URL of the page of the flare or token, if it has one and the server knows its public URL. */
  readonly url: string | undefined;
}

/** How a service shows text literally. `name`: without markup, links and mentions. */
export interface Escapes {
  text(text: string): string;
  name(name: string): string;
}

/** How a service formats a whole message. */
export interface MessageFormat extends Escapes {
  readonly icons: Readonly<Record<AlertText["kind"], string>>;
  /** A link with the text `Details`. */
  link(url: string): string;
}

export const EMOJI: MessageFormat["icons"] = {
  started: "🔥",
  surged: "📈",
  finished: "🏁",
  listed: "🆕",
  notice: "⚠️",
};

/**
 * Returns the message of an alert: its title, its body, and a link to its page. `lateAtMs`: see
 * {@link alertText}.
 */
export function renderAlert(alert: Pick<Alert, "body">, format: MessageFormat, lateAtMs?: number): string {
  const { kind, title, body, url } = alertText(alert, lateAtMs);
  const lines = [`${format.icons[kind]} ${renderParts(title, format)}`, renderParts(body, format)];
  if (url !== undefined) lines.push(format.link(url));
  return lines.filter((line) => line !== "").join("\n");
}

export function renderParts(parts: readonly Part[], escapes: Escapes): string {
  return parts
    .map((part) => (typeof part === "string" ? escapes.text(part) : escapes.name(safeText(part.name))))
    .join("");
}

type Content = Omit<AlertText, "url">;

/** The body of an alert, which this server itself formatted. */
interface Body {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly url?: string;
    readonly event?: EventMessage;
    readonly channel?: string;
    readonly observed_at?: string;
    readonly item?: object;
    readonly field?: string;
    readonly value?: number;
    readonly above?: number;
    readonly below?: number;
    readonly events?: number | null;
    readonly count?: number;
    readonly first?: string;
    readonly last?: string;
  };
}

/**
 * Returns the text of an alert. `lateAtMs`: when it is sent, if that is late. Its body then begins
 * with the time of what it reports.
 */
export function alertText({ body: text }: Pick<Alert, "body">, lateAtMs?: number): AlertText {
  const { type, timestamp, data } = JSON.parse(text) as Body;
  const { kind, title, body } = data.event ? eventText(data.event) : otherText(type, data);
  const when = lateAtMs === undefined ? [] : [whenText(data, timestamp, lateAtMs)];
  return {
    kind,
    title,
    body: body.length > 0 && when[0] ? [`${when[0]}; `, ...body] : [...when, ...body],
    url: data.url,
  };
}

function whenText({ event, observed_at }: Body["data"], timestamp: string, lateAtMs: number): string {
  if (event?.name === "flare-started")
    return `started ${lateText(event.data.flare.started_trending_at, lateAtMs)}`;
  return lateText(event?.observed_at ?? observed_at ?? timestamp, lateAtMs);
}

function eventText(event: EventMessage): Content {
  if (event.name === "flare-started") {
    const { flare, cause } = event.data;
    const since = cause === "passed" ? ` since ${flare.started_trending_at.slice(11, 16)} UTC` : "";
    const title = [...nameParts(event.channel, flare), ` is flaring${since}`];
    return { kind: "started", title, body: [reasonText(event.data)] };
  }
  if (event.name === "flare-surged") {
    const title = [...nameParts(event.channel, event.data.flare), " surges again"];
    return { kind: "surged", title, body: [reasonText(event.data)] };
  }
  if (event.name === "flare-finished") {
    const { flare, outcome, why, cause } = event.data;
    const title = [...nameParts(event.channel, flare), ": the flare ended"];
    return { kind: "finished", title, body: [outcome ? outcomeText(outcome, why) : END_TEXTS[cause]] };
  }
  if (event.name === "token-listed") {
    const { listing } = event.data;
    const body = [
      `price ${formatPrice(listing.token.price)}, liquidity ${formatDollars(Number(listing.liquidity))}`,
    ];
    return { kind: "listed", title: [...nameParts(event.channel, listing), " is listed"], body };
  }
  if (event.name === "source-status") {
    const { state, reason } = event.data;
    const body = reason === "" ? [] : [{ name: reason }];
    return { kind: "notice", title: [`data source: ${state}`], body };
  }
  // Rules report no other events: see NEWS.
  return { kind: "notice", title: [event.name], body: [] };
}

function reasonText({
  flare,
  why,
}: Extract<EventMessage, { readonly name: "flare-started" | "flare-surged" }>["data"]): string {
  const change = `${formatPct(flare.recent_price_change)} in 5 min`;
  // Computed again from the numbers, because another server's sentence could contain anything.
  const reason = why ? [whyText(why, flare.liquidity)] : [];
  const more = [lockedPart(why?.locked), oddsText(why?.odds)].filter((part) => part !== "");
  return [...reason, change, ...more].join("; ");
}

function otherText(type: string, data: Body["data"]): Content {
  const { channel = "", item = {}, field = "", value = 0, above, below, events, count, first, last } = data;
  const name = nameParts(channel, item);
  const texts: Readonly<Record<string, readonly [title: readonly Part[], body?: string]>> = {
    "edge-rose": [[...name, ": ", { name: field }, ` rose to ${value}`], `level ${above}`],
    "edge-fell": [[...name, ": ", { name: field }, ` fell to ${value}`], `level ${below}`],
    test: [["a test: alerts reach this receiver"]],
    "alerts-lost": [[`${events ?? "some"} events were lost: the log no longer holds them`]],
    "alerts-expired": [
      [`${count} alerts were dropped`],
      `not accepted in time; made from ${first} to ${last}`,
    ],
  };
  const [title, body] = texts[type] ?? [[{ name: type }]];
  return { kind: "notice", title, body: body === undefined ? [] : [body] };
}

function nameParts(channel: string, item: object): readonly Part[] {
  const [name = "", ...venue] = namesInText(item, groupOfChannel(channel));
  return [{ name }, ...venue.flatMap((at): readonly Part[] => [" on ", { name: at }])];
}
