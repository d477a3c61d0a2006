import { formatPct } from "../../../../base/lib/text/percent.ts";

/** A change in percent, colored by direction; a change that rounds to zero has no color. */
export function Change({ pct, digits = 0 }: { readonly pct: number; readonly digits?: number }) {
  const text = formatPct(pct, digits);
  const direction = text.startsWith("±") ? "flat" : pct > 0 ? "up" : "down";
  return <b class={`change ${direction}`}>{text}</b>;
}
