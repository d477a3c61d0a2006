import type { FlareElement } from "../flare-element.ts";
import { createFlareStrip } from "./flare-strip.ts";

/*
 * Entry point of /flare-strip.js. Defines `<flare-strip>` on the base and the connection of the
 * elements of /widget.js, which most pages load without it.
 */

function isBase(value: unknown): value is typeof FlareElement {
  return typeof value === "function" && "gallery" in value;
}

customElements.whenDefined("flare-badge").then((badge) => {
  const base: unknown = Object.getPrototypeOf(badge);
  if (isBase(base) && !customElements.get("flare-strip"))
    customElements.define("flare-strip", createFlareStrip(base));
});
