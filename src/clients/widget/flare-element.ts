import type { Flare } from "../../base/model/index.ts";
import type { Gallery } from "./gallery.ts";
import { limitsOf } from "./limits-of.ts";
import type { Seen } from "./shared-feed.ts";
import { STYLE } from "./style.ts";

/** A constructed sheet is no inline style, which the page's policy may forbid. */
const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);

/** Base of the elements: a shadow root, and the feed's state in attribute `state`. */
export abstract class FlareElement extends HTMLElement {
  /** Paints all elements of the page. Set before the first element is created. */
  static gallery: Gallery | undefined;
  readonly root = this.attachShadow({ mode: "open" });
  readonly #complaints = new Set<string>();

  constructor() {
    super();
    this.root.adoptedStyleSheets = [sheet];
  }

  connectedCallback(): void {
    FlareElement.gallery?.add(this);
  }

  disconnectedCallback(): void {
    FlareElement.gallery?.remove(this);
  }

  attributeChangedCallback(): void {
    if (this.isConnected) FlareElement.gallery?.ask();
  }

  /** Shows the feed's state, in the attribute `state` too. */
  show(seen: Seen): void {
    if (this.getAttribute("state") !== seen.state) this.setAttribute("state", seen.state);
    this.paint(seen);
  }

  /** Reports a mistake of the page's author once, on the console: readers cannot fix it. */
  protected complain(text: string): void {
    // biome-ignore lint/suspicious/noConsole: the console is where authors look.
    if (!this.#complaints.has(text)) console.warn(`<${this.localName}>: ${text}`);
    this.#complaints.add(text);
  }

  protected abstract paint(seen: Seen): void;
}

/** Returns all running flares that the visitor may see, newest first. */
export function runningIn({ view }: Seen): readonly Flare[] {
  // Without access, `pro` is empty or missing; with access, it contains the flares of `free` too.
  const { pro = [], free = [] } = view?.flares ?? {};
  return pro.length > 0 ? pro : free;
}

/**
 * Describes the state and the origin of the shown data. `here`: the text while the feed of a real
 * market is live.
 */
export function noteOf(seen: Seen, here: string): string {
  const { state, view } = seen;
  if (state === "refused") return "not available";
  if (!view) return state === "waiting" ? "no data yet" : "connecting…";
  return `${here}${limitsOf(seen)}`.trim();
}

/** Creates an element of the shadow tree, with a part name for the page's style. */
export function makePart<N extends keyof HTMLElementTagNameMap>(
  name: N,
  part: string,
  ...inside: readonly Node[]
): HTMLElementTagNameMap[N] {
  const made = document.createElement(name);
  made.setAttribute("part", part);
  made.append(...inside);
  return made;
}

export function put(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
