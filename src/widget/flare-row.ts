import { formatPct } from "../lib/text/format-pct.ts";
import { safeLink, safeText } from "../lib/text/safe-text.ts";
import type { Explanation, Flare } from "../model/index.ts";
import { FlareElement, makePart, put } from "./flare-element.ts";

const TIME = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit" });

/** One flare of a list. Untrusted content appears as text, and as a link only to a web page. */
export class FlareRow {
  readonly symbol = makePart("a", "symbol");
  readonly name = makePart("bdi", "name");
  readonly change = makePart("span", "change");
  readonly warning = makePart("span", "warning");
  readonly since = makePart("time", "since");
  readonly site = makePart("a", "site");
  readonly why = makePart("span", "why");
  readonly root: HTMLElement;
  #shown: readonly [Flare, Explanation | undefined] | undefined;

  /** `isShort`: shows symbol and change only. */
  constructor(part: string, isShort: boolean) {
    const { symbol, name, change, warning, since, site, why } = this;
    this.root = makePart("li", part, symbol, change, warning, ...(isShort ? [] : [name, since, site, why]));
    this.warning.setAttribute("role", "img");
    this.site.textContent = "site";
    this.site.rel = "noopener noreferrer nofollow ugc";
    for (const link of [symbol, site]) link.target = "_blank";
    symbol.append(document.createElement("bdi"));
  }

  /** Shows the flare. Items of lists are immutable, so an identical one needs no update. */
  show(flare: Flare, why: Explanation | undefined): void {
    const [shown, shownWhy] = this.#shown ?? [];
    if (shown === flare && shownWhy === why) return;
    this.#shown = [flare, why];
    const { token, recent_price_change: change, started_trending_at: since, social_data: social } = flare;
    if (this.symbol.firstChild) put(this.symbol.firstChild, safeText(token.symbol));
    this.symbol.href = tokenPage(token.address);
    put(this.name, safeText(token.name));
    put(this.change, formatPct(change));
    this.change.setAttribute("part", `change ${change < 0 ? "fall" : "rise"}`);
    // An older server sends no sentence.
    put(this.why, why?.text ?? "");
    const warnings = why?.warnings.length ?? 0;
    this.warning.hidden = warnings === 0;
    put(this.warning, "⚠");
    this.warning.ariaLabel = this.warning.title = `${warnings} warning${warnings === 1 ? "" : "s"}`;
    this.since.dateTime = since;
    const at = Date.parse(since);
    put(this.since, Number.isNaN(at) ? "" : TIME.format(at));
    const site = safeLink(social?.website_url);
    this.site.hidden = site === undefined;
    if (site !== undefined) this.site.href = site;
  }
}

/** Returns the token's page in the server's dashboard. */
export function tokenPage(address: string): string {
  return `${FlareElement.gallery?.server ?? ""}#/token/${encodeURIComponent(address.toLowerCase())}`;
}
