import type { FlareElement } from "../flare-element.ts";
import { createFlareStrip } from "./flare-strip.ts";

/*
 * Entry point of /flare-strip.js. Defines `<flare-strip>`, which shares the base class and the
 * connection of /widget.js. Most pages load only that.
 */

function isBase(value: unknown): value is typeof FlareElement {
  return typeof value === "function" && "gallery" in value;
}

customElements.whenDefined("flare-badge").then((badge) => {
  const base: unknown = Object.getPrototypeOf(badge);
  if (isBase(base) && !customElements.get("flare-strip"))
    customElements.define("flare-strip", createFlareStrip(base));
});
