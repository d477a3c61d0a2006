import { FlareBadge } from "./flare-badge.ts";
import { FlareElement } from "./flare-element.ts";
import { FlareList } from "./flare-list.ts";
import { FlareTicker } from "./flare-ticker.ts";
import { Gallery } from "./gallery.ts";

/*
 * What /widget.js is: it makes three elements known to the page, which follow the server that it came from.
 */

const ELEMENTS = { "flare-ticker": FlareTicker, "flare-list": FlareList, "flare-badge": FlareBadge };

const { currentScript } = document;
if (!(currentScript instanceof HTMLScriptElement) || currentScript.src === "") {
  throw new Error('widget.js finds its server by its own address: load it with <script src="…/widget.js">');
}
// A page that names it twice has it once.
if (!customElements.get("flare-list")) {
  FlareElement.gallery = new Gallery(new URL(".", currentScript.src).href);
  for (const [name, element] of Object.entries(ELEMENTS)) customElements.define(name, element);
}
