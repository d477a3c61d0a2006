import { safeText } from "../../base/lib/text/safe-text.ts";
import { shortAddress } from "../../base/model/token-key.ts";
import { FlareElement, makePart, noteOf, put, runningIn } from "./flare-element.ts";
import { putChange, tokenPage } from "./flare-row.ts";
import type { Seen } from "./shared-feed.ts";

/** `<flare-badge token="0x…">`: whether a token flares, also as attribute `flaring`. */
export class FlareBadge extends FlareElement {
  static readonly observedAttributes = ["token"];
  readonly #symbol = makePart("bdi", "symbol");
  readonly #change = makePart("span", "change");
  readonly #note = makePart("span", "note");
  readonly #link = makePart("a", "badge", this.#symbol, this.#change, this.#note);

  constructor() {
    super();
    this.#link.target = "_blank";
    this.root.append(this.#link);
  }

  protected override paint(seen: Seen): void {
    const address = (this.getAttribute("token") ?? "").trim();
    const isAddress = /^0x[0-9a-f]{40}$/i.test(address);
    const wanted = address.toLowerCase();
    const flare = runningIn(seen).find(({ token }) => token.address.toLowerCase() === wanted);
    const isWarned = flare && seen.view?.explanations[flare.id]?.warnings[0];
    // A token with a warning must not look like a recommendation.
    const note = `is ${flare ? "" : "not "}flaring${isWarned ? " ⚠ with warnings" : ""}`;
    this.toggleAttribute("flaring", flare !== undefined);
    if (isAddress) this.#link.href = tokenPage(address);
    else this.#link.removeAttribute("href");
    put(this.#symbol, safeText(flare?.token.symbol ?? shortAddress(address)));
    if (flare) putChange(this.#change, flare);
    this.#change.hidden = !flare;
    put(this.#note, isAddress ? noteOf(seen, note) : "");
    if (!isAddress) this.complain(`invalid token address "${address}"`);
  }
}
