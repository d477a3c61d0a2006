import { FlareBadge } from "./flare-badge.ts";
import { FlareElement } from "./flare-element.ts";
import { FlareList, FlareTicker } from "./flare-rows.ts";
import { Gallery } from "./gallery.ts";

/* Entry point of /widget.js. Defines three elements, which follow the script's server. */

const ELEMENTS = { "flare-ticker": FlareTicker, "flare-list": FlareList, "flare-badge": FlareBadge };

const { currentScript } = document;
if (!(currentScript instanceof HTMLScriptElement) || currentScript.src === "") {
  throw new Error("load widget.js with <script src>, not as a module");
}
// The page may load the script twice.
if (!customElements.get("flare-list")) {
  FlareElement.gallery = new Gallery(new URL(".", currentScript.src).href);
  for (const [name, element] of Object.entries(ELEMENTS)) customElements.define(name, element);
}
