import { cssShare } from "../../../base/lib/text/percent.ts";
import { safeText } from "../../../base/lib/text/safe-text.ts";
import type { FlareElement } from "../flare-element.ts";
import { limitsOf } from "../limits-of.ts";
import type { Seen } from "../shared-feed.ts";
import { type Bar, barsOf, labelOf } from "./bars.ts";

const STYLE = `
:host(flare-strip) { padding: 0; }
a { position: relative; display: block; height: var(--flare-height, 3em); }
[part~=bar] { position: absolute; min-width: 2px; border-radius: 2px; background: var(--flare-faded, color-mix(in srgb, currentColor 45%, transparent)); }
[part~=flaring] { background: var(--flare-flaring, #e8730c); }
[part~=canary] { background: var(--flare-canary, #c81e2b); }
@media (forced-colors: active) {
  [part~=bar] { forced-color-adjust: none; }
}
`;
const DEFAULT_HOURS = 6;
const MAX_HOURS = 24;

/**
 * Creates the class of `<flare-strip hours="6">`: a bar for each flare of the last hours. It is one
 * link to the dashboard, and its label describes the bars.
 */
export function createFlareStrip(base: typeof FlareElement): CustomElementConstructor {
  return class FlareStrip extends base {
    static readonly observedAttributes = ["hours"];
    readonly #link = document.createElement("a");
    readonly #bars = new Map<string, HTMLElement>();

    constructor() {
      super();
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
      this.root.adoptedStyleSheets.push(sheet);
      this.#link.setAttribute("part", "strip");
      this.#link.target = "_blank";
      this.#link.href = base.gallery?.server ?? "";
      this.root.append(this.#link);
    }

    protected override paint(seen: Seen): void {
      const asked = Number(this.getAttribute("hours") ?? DEFAULT_HOURS);
      const isValid = asked > 0 && asked <= MAX_HOURS;
      if (!isValid) this.complain(`hours must be above 0 and at most ${MAX_HOURS}`);
      const hours = isValid ? asked : DEFAULT_HOURS;
      const bars = barsOf(seen.view, hours, Date.now());
      const lanes = Math.max(1, ...bars.map(({ lane }) => lane + 1));
      const gone = new Set(this.#bars.keys());
      for (const bar of bars) {
        gone.delete(bar.flare.id);
        this.#place(bar, lanes);
      }
      for (const id of gone) {
        this.#bars.get(id)?.remove();
        this.#bars.delete(id);
      }
      this.#link.ariaLabel = `${labelOf(bars, hours)}${limitsOf(seen)}`;
    }

    #place({ flare, fate, text, left, width, lane }: Bar, lanes: number): void {
      const bar = this.#bars.get(flare.id) ?? document.createElement("span");
      this.#bars.set(flare.id, bar);
      bar.setAttribute("part", `bar ${fate}`);
      bar.title = `${safeText(flare.token.symbol)}, ${text}`;
      const { style } = bar;
      style.left = cssShare(left);
      style.width = cssShare(width);
      style.top = cssShare(lane / lanes);
      style.height = cssShare(0.85 / lanes);
      if (!bar.isConnected) this.#link.append(bar);
    }
  };
}
