import { FlareElement, makePart, noteOf, put, runningIn } from "./flare-element.ts";
import { FlareRow } from "./flare-row.ts";
import type { Seen } from "./shared-feed.ts";

/** Rows that an element shows unless its `limit` says otherwise, and at most: what is painted has a bound. */
const USUAL_ROWS = 10;
const MAX_ROWS = 100;

/** An element with a row for each of the newest flares. `limit`: how many at most, from 1 to 100; default 10. */
export abstract class FlareRows extends FlareElement {
  static readonly observedAttributes = ["limit"];
  readonly #list = makePart("ul", "list");
  readonly #note = makePart("span", "note");
  readonly #rows = new Map<string, FlareRow>();
  readonly #isShort: boolean;

  constructor(isShort: boolean, label: string) {
    super();
    this.#isShort = isShort;
    // Without its marks some screen readers take it for no list.
    this.#list.setAttribute("role", "list");
    this.#list.ariaLabel = label;
    this.root.append(this.#list, this.#note);
  }

  protected override paint(seen: Seen): void {
    const asked = Math.floor(Number(this.getAttribute("limit")));
    const flares = runningIn(seen).slice(0, asked >= 1 ? Math.min(asked, MAX_ROWS) : USUAL_ROWS);
    const left = new Set(this.#rows.keys());
    for (const [at, flare] of flares.entries()) {
      left.delete(flare.id);
      const row = this.#rows.get(flare.id) ?? new FlareRow(this.#isShort ? "item" : "row", this.#isShort);
      this.#rows.set(flare.id, row);
      row.show(flare, seen.view?.explanations[flare.id]);
      const there = this.#list.children[at] ?? null;
      if (there !== row.root) this.#list.insertBefore(row.root, there);
    }
    for (const id of left) {
      this.#rows.get(id)?.root.remove();
      this.#rows.delete(id);
    }
    const isEmpty = flares.length === 0;
    this.#list.hidden = isEmpty;
    put(this.#note, noteOf(seen, isEmpty ? "nothing flares now" : ""));
  }
}
