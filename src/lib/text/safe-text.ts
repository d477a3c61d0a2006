/** Most characters of a stranger's text that are shown; what is longer is no name. */
const MOST = 48;

/** Controls, and what turns, hides or joins the text around it: bidi controls, zero-width characters, line ends, tags. */
const HARMFUL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** Marks that pile up on one letter until they cover the lines around. */
const PILED = /(\p{M}{3})\p{M}+/gu;

/** A stranger's text as it may stand on a page, as text: bounded, on one line, and without characters that act on their neighbours. */
export function safeText(text: string): string {
  // What is cut off need not be looked at: nobody's name costs more than another's.
  const plain = text
    .slice(0, 4 * MOST)
    .replace(/\s+/g, " ")
    .replace(HARMFUL, "")
    .replace(PILED, "$1")
    .trim();
  const shown = Array.from(plain);
  if (shown.length === 0) return "(no name)";
  return shown.length > MOST ? `${shown.slice(0, MOST - 1).join("")}…` : plain;
}

/** A stranger's link, if it is one that may be followed: http or https; else `undefined`. */
export function safeLink(link: string | null | undefined): string | undefined {
  const url = typeof link === "string" && link.length <= 2_048 ? URL.parse(link) : null;
  return url && /^https?:$/.test(url.protocol) && url.username === "" ? url.href : undefined;
}
