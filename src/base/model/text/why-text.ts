import { formatDollars } from "../../lib/text/figures.ts";
import { formatShare } from "../../lib/text/percent.ts";
import { HOUR_MS } from "../../lib/time/time.ts";
import type { Explanation, Term, TermName } from "../explanation.ts";
import type { DecimalString } from "../primitives.ts";

/** Below this, a purchase of $1,000 moves the price of an x·y=k pool by more than a fifth. */
const THIN_USD = 20_000;
const MAX_FIGURE = 1_000;
/** Larger ratios of buys to sells are reported as at least this. */
const MAX_RATIO = 20;

/** Warnings that the sentence may name; others are counted, because a source may invent names. */
export const WARNING_TEXTS: ReadonlyMap<string, string> = new Map([
  ["liquidity-removed", "liquidity removed"],
  ["liquidity-plunged", "liquidity plunged"],
  ["no-seller", "nobody sells"],
  ["price-collapsed", "price collapsed"],
  ["price-fallen", "price has fallen"],
  ["repeat-buyers", "repeat buyers"],
  ["round-trips", "round trips"],
  ["quick-sellers", "quick sellers"],
  ["one-buyer", "one large buyer"],
  ["few-buyers", "few large buyers"],
  ["equal-buyers", "equal buyers"],
  ["first-sellers", "first buyers sell"],
  ["unlocked-liquidity", "liquidity not locked"],
  ["unverified-source", "unverified source"],
]);

const TERM_TEXTS: Readonly<Record<TermName, (term: Term) => string>> = {
  buyers: buyersText,
  imbalance: imbalanceText,
  price: priceText,
  volume: ({ raw, usual }) => (usual === null ? "no usual volume known" : comparedText(raw, "volume")),
  rush: ({ raw }) => (raw === 1 ? "1 buy at once" : `${figure(raw)} buys at once`),
  flow: ({ raw }) => (raw < 0.5 ? "no net buying" : `net buying of ${figure(raw)} usual minutes`),
};

/** Terms that mean something else where seconds are judged, which only then have a `rush`. */
const SECONDS_TEXTS: Pick<typeof TERM_TEXTS, "price" | "volume"> = {
  price: ({ raw }) => `price ${figure(Math.max(0, 100 * Math.expm1(raw)))} % above the lowest of a minute`,
  volume: ({ raw, usual }) =>
    usual === null ? "usual buying not known" : `${figure(raw)} times the usual buying`,
};

/**
 * Returns an explanation's `text`, computed from its published numbers and its flare's `liquidity`
 * only, so that every server writes the same. `trend/README.md` states the templates.
 */
export function whyText(
  { score, threshold, terms, warnings }: Pick<Explanation, "score" | "threshold" | "terms" | "warnings">,
  liquidity: DecimalString,
): string {
  const knowsBuyers = terms.some(({ name }) => name === "buyers");
  const isOfSeconds = !knowsBuyers && terms.some(({ name }) => name === "rush");
  const texts = isOfSeconds ? { ...TERM_TEXTS, ...SECONDS_TEXTS } : TERM_TEXTS;
  const reasons = Object.entries(texts).flatMap(([name, textOf]) => {
    const term = terms.find((one) => one.name === name);
    // Buyers and buys at once say more than the flow does, and a sentence with both is too long.
    const isLess = (name === "flow" && (knowsBuyers || isOfSeconds)) || (name === "rush" && knowsBuyers);
    return term && !isLess ? [textOf(term)] : [];
  });
  const reason = reasons.join(", ") || `score ${figure(score)}, required ${figure(threshold)}`;
  return [reason, ...liquidityTexts(Number(liquidity)), ...warningTexts(warnings)].join("; ");
}

function buyersText({ raw, usual }: Term): string {
  if (raw < 0.5) return "hardly any buyers";
  if (usual !== null && usual > 0) return comparedText(raw / usual, "buyers");
  const count = raw < MAX_FIGURE ? String(Math.round(raw)) : `${MAX_FIGURE}+`;
  return count === "1" ? "1 buyer" : `${count} buyers`;
}

function comparedText(ratio: number, what: "buyers" | "volume"): string {
  if (ratio >= 1.5) return `${figure(ratio)} times the usual ${what}`;
  if (ratio > 2 / 3) return `about the usual ${what}`;
  return `${formatShare(Math.max(0, ratio))} of the usual ${what}`;
}

/** The term may be a lower bound, so the ratio is rounded down. */
function imbalanceText({ raw }: Term): string {
  const share = Math.min(1, 0.5 + raw);
  const ratio = share / (1 - share);
  if (!(share > 0.5) || ratio < 1.1) return "no clear surplus of buys";
  const floored = ratio < 10 ? Math.floor(10 * ratio) / 10 : Math.floor(Math.min(ratio, MAX_RATIO));
  return `buys outweigh sells at least ${floored}:1`;
}

function priceText({ raw }: Term): string {
  const pct = 100 * Math.expm1(raw);
  if (Math.abs(pct) < 0.5) return "price about normal";
  return `price ${figure(Math.abs(pct))} % ${pct > 0 ? "above" : "below"} normal`;
}

function liquidityTexts(usd: number): readonly string[] {
  // Feeds without liquidity send 0.
  if (!(usd > 0) || usd >= THIN_USD) return [];
  if (usd < 100) return ["under $100 liquidity is thin"];
  return [`${formatDollars(usd)} liquidity is thin`];
}

function warningTexts(warnings: readonly string[]): readonly string[] {
  const named = warnings.find((warning) => WARNING_TEXTS.has(warning));
  const text = named === undefined ? undefined : WARNING_TEXTS.get(named);
  if (warnings.length === 0) return [];
  if (text === undefined) return [`warnings: ${Math.min(warnings.length, MAX_FIGURE)}`];
  const others = Math.min(warnings.length - 1, MAX_FIGURE);
  return [`warning: ${text}${others > 0 ? ` and ${others} more` : ""}`];
}

/** One decimal below 10, whole above, at most `1000+`. */
function figure(value: number): string {
  if (value >= MAX_FIGURE) return `${MAX_FIGURE}+`;
  const rounded = Math.abs(value) < 9.95 ? Math.round(10 * value) / 10 : Math.round(value);
  return String(Math.max(-MAX_FIGURE, rounded) || 0);
}

/** Returns the share that is burned, or locked for more than an hour; -Infinity if unknown. */
export function lockedShare({ at, locked }: Pick<Explanation, "at" | "locked">): number {
  if (!locked) return Number.NEGATIVE_INFINITY;
  const isLasting = locked.until !== null && Date.parse(locked.until) - Date.parse(at) > HOUR_MS;
  return locked.burned + (isLasting ? locked.held : 0);
}
