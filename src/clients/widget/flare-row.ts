import { formatPrice } from "../../base/lib/text/figures.ts";
import { formatPct } from "../../base/lib/text/percent.ts";
import { safeLink, safeText } from "../../base/lib/text/safe-text.ts";
import type { Explanation, Flare } from "../../base/model/index.ts";
import { FlareElement, makePart, put } from "./flare-element.ts";

/** Names of what a row shows, in the usual order. By default, a ticker shows the first two. */
export const COLUMNS = ["symbol", "change", "name", "price", "since", "site", "why"] as const;
type Column = (typeof COLUMNS)[number];

/** One flare of a list. Untrusted content appears as text, and as a link only to a web page. */
export class FlareRow {
  readonly root: HTMLElement;
  readonly #warning = makePart("span", "warning");
  readonly #cells = {
    symbol: makePart("a", "symbol"),
    change: makePart("span", "change"),
    name: makePart("bdi", "name"),
    price: makePart("span", "price"),
    since: makePart("time", "since"),
    site: makePart("a", "site"),
    why: makePart("span", "why"),
  };
  #columns = "";
  #shown: readonly [Flare, Explanation | undefined] | undefined;

  constructor(part: string) {
    const { symbol, site } = this.#cells;
    this.root = makePart("li", part);
    this.#warning.role = "img";
    put(this.#warning, "⚠");
    put(site, "site");
    site.rel = "noopener noreferrer nofollow ugc";
    for (const link of [symbol, site]) link.target = "_blank";
    symbol.append(document.createElement("bdi"));
  }

  /** Arranges the columns. A warning follows the first one, whatever the choice. */
  arrange(columns: readonly Column[]): void {
    const names = columns.join();
    if (this.#columns === names) return;
    this.#columns = names;
    const [first = this.#warning, ...others] = columns.map((name) => this.#cells[name]);
    this.root.replaceChildren(first, this.#warning, ...others);
  }

  /** Shows the flare. Items of lists are immutable, so an identical one needs no update. */
  show(flare: Flare, explanation: Explanation | undefined): void {
    if (this.#shown?.[0] === flare && this.#shown[1] === explanation) return;
    this.#shown = [flare, explanation];
    const { symbol, change, name, price, since, site, why } = this.#cells;
    const { token, started_trending_at: start } = flare;
    if (symbol.firstChild) put(symbol.firstChild, safeText(token.symbol));
    symbol.href = tokenPage(token.address);
    put(name, safeText(token.name));
    putChange(change, flare);
    put(price, formatPrice(token.price));
    // An older server sends no sentence.
    put(why, explanation?.text ?? "");
    const warnings = explanation?.warnings.length ?? 0;
    this.#warning.hidden = warnings === 0;
    this.#warning.ariaLabel = this.#warning.title = `${warnings} warning${warnings === 1 ? "" : "s"}`;
    since.dateTime = start;
    put(since, `${start.slice(11, 16)} UTC`);
    const link = safeLink(flare.social_data?.website_url);
    site.hidden = link === undefined;
    if (link !== undefined) site.href = link;
  }
}

/** Shows the change of five minutes, marked as a rise or a fall. The server rounds it. */
export function putChange(node: Element, { recent_price_change: change }: Flare): void {
  put(node, formatPct(change));
  node.setAttribute("part", `change ${change < 0 ? "fall" : change ? "rise" : ""}`);
}

/** Returns the token's page in the server's dashboard. */
export function tokenPage(address: string): string {
  return `${FlareElement.gallery?.server ?? ""}#/token/${encodeURIComponent(address.toLowerCase())}`;
}
