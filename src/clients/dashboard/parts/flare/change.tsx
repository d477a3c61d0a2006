import { formatPct } from "../../../../base/lib/text/percent.ts";

/** Longer changes are shown smaller, so that no digit is cut. */
const USUAL_LENGTH = 7;

/** A change in percent, colored by direction; a change that rounds to zero has no color. */
export function Change({ pct, digits = 0 }: { readonly pct: number; readonly digits?: number }) {
  const text = formatPct(pct, digits);
  const direction = text.startsWith("±") ? "flat" : pct > 0 ? "up" : "down";
  const length = text.length > USUAL_LENGTH ? " long" : "";
  return <b class={`change ${direction}${length}`}>{text}</b>;
}
