import { safeText } from "../../lib/text/safe-text.ts";
import { type FlareRecord, type Group, outcomeText } from "../../model/index.ts";
import type { Snapshot } from "../../protocol/index.ts";
import { html } from "../docs/html.ts";
import { type Figure, figureList, nameHtml, sentenceOf, timeText, usdText } from "./flare-page.ts";
import type { PageText } from "./page-template.ts";

/** What is known of a token, from the lists that the visitor may see or a stored flare. */
export interface TokenFacts {
  readonly symbol: string;
  readonly name: string | undefined;
  /** Absent for a token of an exchange. */
  readonly address: string | undefined;
  readonly price: string;
  readonly liquidity: string | undefined;
}

const GROUP_NAMES: Readonly<Record<Group, string>> = {
  bsc: "BNB Smart Chain",
  exchange: "Exchange",
  matic: "Polygon",
  avalanche: "Avalanche",
};

/** Returns a token of the group by address, or on an exchange by symbol, in any case. */
export function findToken(
  shown: Snapshot,
  group: Group,
  key: string,
  stored: readonly FlareRecord[],
): TokenFacts | undefined {
  const wanted = key.toLowerCase();
  if (group !== "bsc") {
    const items = [...shown.charts[group].map(({ token }) => token)];
    const token = items.find((one) => ("address" in one ? one.address : one.symbol).toLowerCase() === wanted);
    if (!token) return undefined;
    const address = "address" in token ? token.address : undefined;
    return { symbol: token.symbol, name: undefined, address, price: token.price, liquidity: undefined };
  }
  const { pro, free, finished_trending } = shown.flares;
  const known = [
    ...pro,
    ...free,
    ...shown.charts.bsc.map(({ flare }) => flare),
    ...shown.newest.bsc,
    ...finished_trending,
    ...stored.map(({ flare }) => flare),
  ].find(({ token }) => token.address.toLowerCase() === wanted);
  return known && { ...known.token, liquidity: known.liquidity };
}

/** Describes one token: what it is, whether it flares, and how its flares went. */
export function tokenPage(token: TokenFacts, { group, shown, stored, root }: TokenPageParts): PageText {
  const symbol = safeText(token.symbol);
  const isIt = ({ token: { address } }: { readonly token: { readonly address: string } }) =>
    address.toLowerCase() === token.address?.toLowerCase();
  const running = group === "bsc" ? [...shown.flares.pro, ...shown.flares.free].find(isIt) : undefined;
  const why = running && shown.explanations[running.id];
  const now = running
    ? sentenceOf(`flaring since ${timeText(running.started_trending_at)}${why ? `: ${why.text}` : ""}`)
    : "Not flaring now.";
  const figures: readonly Figure[] = [
    { name: "Price", value: html`<b>${Number(token.price) > 0 ? token.price : "–"}</b>` },
    ...(token.liquidity === undefined
      ? []
      : [{ name: "Liquidity", value: html`<b>${usdText(token.liquidity)}</b>` }]),
    { name: "Group", value: html`<b>${GROUP_NAMES[group]}</b>` },
  ];
  const past = stored.map(
    ({
      flare,
      outcome,
    }) => html`<li><a href="${root}flare/${encodeURIComponent(flare.id)}"><time datetime="${flare.started_trending_at}">${timeText(flare.started_trending_at)}</time></a>
<span>${outcome === null ? "outcome not known" : outcomeText(outcome)}</span></li>\n`,
  );
  return {
    title: running ? `${symbol} is flaring` : symbol,
    description: `${now} ${past.length === 0 ? "No finished flare is stored." : `Its last ${past.length === 1 ? "flare" : `${past.length} flares`}, and how they went.`}`,
    main: html`${running ? html`<p class="fate flaring">Flaring now</p>` : html``}
<h1>${nameHtml({ symbol: token.symbol, name: token.name ?? GROUP_NAMES[group] })}</h1>
<p class="lead">${now}</p>
${figureList(figures)}
<p class="links">${token.address === undefined ? html`` : html`<a class="primary" href="${root}#/token/${encodeURIComponent(token.address.toLowerCase())}">Open in the dashboard</a>`}
${running ? html`<a href="${root}flare/${encodeURIComponent(running.id)}">This flare</a>` : html``}</p>
${token.address === undefined ? html`` : html`<p class="address"><small>${token.address}</small></p>`}
<h2>Finished flares</h2>
${past.length === 0 ? html`<p>None is stored.</p>` : html`<ol class="past">\n${past}</ol>`}`,
  };
}

interface TokenPageParts {
  readonly group: Group;
  readonly shown: Snapshot;
  /** Its finished flares, newest first. */
  readonly stored: readonly FlareRecord[];
  readonly root: string;
}
