import { FlareElement, makePart, noteOf, put, runningIn } from "./flare-element.ts";
import { FlareRow } from "./flare-row.ts";
import type { Seen } from "./shared-feed.ts";

const DEFAULT_ROWS = 10;
const MAX_ROWS = 100;

/** An element with a row for each of the newest flares, at most `limit`. */
abstract class FlareRows extends FlareElement {
  static readonly observedAttributes = ["limit"];
  readonly #list = makePart("ul", "list");
  readonly #note = makePart("span", "note");
  readonly #rows = new Map<string, FlareRow>();
  readonly #isShort: boolean;

  constructor(isShort: boolean) {
    super();
    this.#isShort = isShort;
    // Lists without markers lose their role in some screen readers.
    this.#list.setAttribute("role", "list");
    this.#list.ariaLabel = "Flaring tokens";
    this.root.append(this.#list, this.#note);
  }

  protected override paint(seen: Seen): void {
    const asked = Math.floor(Number(this.getAttribute("limit")));
    const flares = runningIn(seen).slice(0, asked >= 1 ? Math.min(asked, MAX_ROWS) : DEFAULT_ROWS);
    const left = new Set(this.#rows.keys());
    for (const [at, flare] of flares.entries()) {
      left.delete(flare.id);
      const row = this.#rows.get(flare.id) ?? new FlareRow(this.#isShort ? "item" : "row", this.#isShort);
      this.#rows.set(flare.id, row);
      row.show(flare, seen.view?.explanations[flare.id]);
      const present = this.#list.children[at] ?? null;
      if (present !== row.root) this.#list.insertBefore(row.root, present);
    }
    for (const id of left) {
      this.#rows.get(id)?.root.remove();
      this.#rows.delete(id);
    }
    const isEmpty = flares.length === 0;
    this.#list.hidden = isEmpty;
    put(this.#note, noteOf(seen, isEmpty ? "no flares right now" : ""));
  }
}

/** `<flare-list limit="5">`: the current flares in detail, newest first. */
export class FlareList extends FlareRows {
  constructor() {
    super(false);
  }
}

/** `<flare-ticker>`: current flares on one line, scrolling unless `still` or reduced motion. */
export class FlareTicker extends FlareRows {
  constructor() {
    super(true);
  }
}
