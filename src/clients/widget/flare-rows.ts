import { FlareElement, makePart, noteOf, put, runningIn } from "./flare-element.ts";
import { COLUMNS, FlareRow } from "./flare-row.ts";
import type { Seen } from "./shared-feed.ts";

const DEFAULT_ROWS = 10;
const MAX_ROWS = 100;
/** The only chain that the elements show. */
const CHAIN = "bsc";

/**
 * The columns without the attribute `columns`. A price would not fit as well. A ticker has the
 * first two.
 */
const USUAL: readonly (typeof COLUMNS)[number][] = COLUMNS.filter((name) => name !== "price");

/** An element with a row for each of the newest flares, at most `limit`. */
abstract class FlareRows extends FlareElement {
  static readonly observedAttributes = ["limit", "columns", "chain"];
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

  /** The names in `columns`, in the usual order. */
  #columns(): typeof USUAL {
    const names = this.getAttribute("columns")?.split(/\W+/);
    if (!names) return this.#isShort ? USUAL.slice(0, 2) : USUAL;
    const unknown = names.find((name) => !COLUMNS.some((column) => column === name));
    if (unknown !== undefined) this.complain(`no column "${unknown}" in ${COLUMNS}`);
    return COLUMNS.filter((name) => names.includes(name));
  }

  protected override paint(seen: Seen): void {
    const columns = this.#columns();
    const asked = Math.floor(Number(this.getAttribute("limit")));
    const chain = this.getAttribute("chain") ?? CHAIN;
    if (chain !== CHAIN) this.complain(`no flares of chain "${chain}", only of ${CHAIN}`);
    const running = chain === CHAIN ? runningIn(seen) : [];
    const flares = running.slice(0, asked >= 1 ? Math.min(asked, MAX_ROWS) : DEFAULT_ROWS);
    const left = new Set(this.#rows.keys());
    for (const [index, flare] of flares.entries()) {
      left.delete(flare.id);
      const row = this.#rows.get(flare.id) ?? new FlareRow(this.#isShort ? "item" : "row");
      this.#rows.set(flare.id, row);
      row.arrange(columns);
      row.show(flare, seen.view?.explanations[flare.id]);
      const present = this.#list.children[index] ?? null;
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
