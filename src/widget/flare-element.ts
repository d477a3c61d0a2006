import type { Flare } from "../model/index.ts";
import type { Gallery } from "./gallery.ts";
import type { Seen } from "./shared-feed.ts";
import { STYLE } from "./style.ts";

/** Constructed sheets are no inline style: the page's policy need not allow any. */
const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);

/**
 * What the elements share: a shadow root, which the page's style reaches by custom properties and parts only, and a place among the elements that are painted
 * together. Its attribute `state` tells how the feed fares.
 */
export abstract class FlareElement extends HTMLElement {
  /** Paints all elements of the page; set before the first is made. */
  static gallery: Gallery | undefined;
  readonly root = this.attachShadow({ mode: "open" });

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

  /** Paints what has changed since it was called last. */
  show(seen: Seen): void {
    if (this.getAttribute("state") !== seen.state) this.setAttribute("state", seen.state);
    this.paint(seen);
  }

  protected abstract paint(seen: Seen): void;
}

/** All running flares that the server shows to a visitor, newest first. */
export function runningIn({ view }: Seen): readonly Flare[] {
  // Who may not see the one list has it empty or not at all, and who may finds the other's flares in it.
  const { pro = [], free = [] } = view?.flares ?? {};
  return pro.length > 0 ? pro : free;
}

/** How what is shown is to be taken, in words: `here` is what there is to say of it. */
export function noteOf({ state, view }: Seen, here: string): string {
  if (state === "refused") return "not available here";
  if (!view) return "connecting…";
  return state === "live" ? here : `${here} (as last heard)`.trim();
}

/** An element of the shadow tree, which the page's style knows by the part's name. */
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

/** Writes the text, as text, if it is another one. */
export function put(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
