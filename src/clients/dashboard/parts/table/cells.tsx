import { countedZ } from "../../../../base/lib/counted-z.ts";
import { formatCount, formatUsd } from "../../../../base/lib/text/figures.ts";
import { formatPct, formatShare } from "../../../../base/lib/text/percent.ts";
import { safeText } from "../../../../base/lib/text/safe-text.ts";
import { HOUR_MS, MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { AnyFlare, Explanation, Term } from "../../../../base/model/index.ts";
import { groupOf, tokenOf } from "../../../../base/model/key-of.ts";
import { isHardToSell, sayWarning } from "../../../../base/model/text/end-texts.ts";
import { oddsText } from "../../../../base/model/text/odds-text.ts";
import { lockedShare } from "../../../../base/model/text/why-text.ts";
import { useNow } from "../../state/store.ts";
import { toggleWatched } from "../../state/visitor/watched.ts";
import { termText } from "../../text/term-text.ts";
import { Change } from "../flare/change.tsx";
import { UntrustedText } from "../untrusted-text.tsx";

/** Number of reasons in a row. */
const MAX_REASONS = 3;
/** A term at this number of deviations has a full bar. */
const FULL_Z = 6;
/** The time that the share of rises is about. */
const ODDS_MS = 15 * MINUTE_MS;
/** From this share on, liquidity counts as locked. */
const MIN_LOCKED = 0.5;

interface TokenNameProps {
  readonly symbol: string;
  readonly name?: string | undefined;
  readonly href: string;
  /** The token's chain or exchange. */
  readonly tag?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
  /** Whether the row is the end of a flare by a grave warning, which another cell states. */
  readonly isQuiet?: boolean;
}

/** A token's symbol, linked to its page, and below it the first warning or its name. */
export function TokenName({ symbol, name, href, tag, warnings = [], isQuiet }: TokenNameProps) {
  const [warning, ...more] = warnings;
  return (
    <>
      <span class="symbol">
        <a href={href}>
          <UntrustedText text={symbol} />
        </a>
        {tag && <small class="tag">{safeText(tag)}</small>}
      </span>
      {warning !== undefined && !isQuiet ? (
        <span class="pill warned" title={warnings.map(sayWarning).join(", ")}>
          <span class="untrusted">⚠ {sayWarning(warning)}</span>
          {more.length > 0 && <span> +{more.length}</span>}
        </span>
      ) : (
        name !== undefined && (
          <small>
            <UntrustedText text={name} />
          </small>
        )
      )}
    </>
  );
}

interface WatchStarProps {
  readonly flare: AnyFlare;
  readonly isWatched: boolean;
}

/** Puts a token on the watch list, or takes it off. */
export function WatchStar({ flare, isWatched }: WatchStarProps) {
  return (
    <button
      type="button"
      class="star"
      aria-pressed={isWatched}
      aria-label={`Watch ${safeText(flare.token.symbol)}`}
      onClick={() => toggleWatched(groupOf(flare), tokenOf(flare))}
    >
      {isWatched ? "★" : "☆"}
    </button>
  );
}

/** Buys and sells of the last five minutes, and their ratio as a bar. */
export function BuysSells({ buys, sells }: { readonly buys: number; readonly sells: number }) {
  const share = buys + sells === 0 ? 50 : (100 * buys) / (buys + sells);
  return (
    <span class="sides">
      <span>{formatCount(buys)}</span>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="sold" width="100" height="6" />
        <rect class="bought" width={share} height="6" />
      </svg>
      <span>{formatCount(sells)}</span>
    </span>
  );
}

/** Liquidity in US dollars, with a lock if most of it is burned or locked. */
export function Liquidity({ usd, why }: { readonly usd: string; readonly why: Explanation | undefined }) {
  const locked = why ? lockedShare(why) : 0;
  return (
    <>
      {locked >= MIN_LOCKED && (
        <svg class="lock" viewBox="0 0 10 12" role="img" aria-label={`${formatShare(locked)} locked`}>
          <title>{`${formatShare(locked)} burned or locked`}</title>
          <path d="M2.5 5V3.5a2.5 2.5 0 0 1 5 0V5" />
          <rect x="1" y="5" width="8" height="6.5" rx="1" />
        </svg>
      )}
      {formatUsd(usd)}
    </>
  );
}

/**
 * How flares like this one went: the share that rose, and the share that was rugged. Muted once the
 * minutes that the first share is about are over.
 */
export function OddsCell({
  why,
  startMs,
  atMs,
}: {
  readonly why: Explanation | undefined;
  readonly startMs: number;
  /** A past moment that the list shows. */
  readonly atMs: number | undefined;
}) {
  const isOver = useNow((nowMs) => (atMs ?? nowMs) - startMs >= ODDS_MS, [startMs, atMs]);
  const odds = why?.odds;
  if (!odds?.up_15m && !odds?.rug_60m) return <span title={why?.odds_reason ?? "Too few like it"}>?</span>;
  return (
    <span class={isOver ? "pair soft" : "pair"} title={oddsText(odds)}>
      <span>{odds.up_15m ? `${formatShare(odds.up_15m.share)} up` : "–"}</span>
      {odds.rug_60m && <small>{formatShare(odds.rug_60m.share)} rug</small>}
    </span>
  );
}

/** The terms that count most, each as a short phrase with a bar. The sentence is its title. */
export function WhyChips({ why }: { readonly why: Explanation | undefined }) {
  if (!why) return null;
  const part = ({ weight, z }: Term) => weight * countedZ(z);
  const terms = why.terms
    .toSorted((a, b) => part(b) - part(a))
    .flatMap((term) => {
      const text = termText(term, why);
      return text === undefined ? [] : [{ ...term, text }];
    })
    .slice(0, MAX_REASONS);
  return (
    <span class="why-chips" title={why.text}>
      {terms.map(({ name, z, text }) => (
        <span key={name}>
          <svg viewBox="0 0 4 12" aria-hidden="true">
            <rect
              fill={`var(--term-${name})`}
              width="4"
              {...barOf(12 * Math.min(1, Math.max(0.15, countedZ(z) / FULL_Z)))}
            />
          </svg>
          {text}
        </span>
      ))}
    </span>
  );
}

function barOf(height: number) {
  return { y: 12 - height, height };
}

interface MeasuredProps {
  readonly pct: number | null | undefined;
  readonly why: Explanation | undefined;
  /** The flare's start. Its outcome is complete an hour later. Default: it is complete. */
  readonly startMs?: number;
}

/**
 * A measured change, or in how many minutes it will be known. Without color if hardly anyone
 * sold at these prices: that rise is no gain.
 */
export function Measured({ pct, why, startMs = 0 }: MeasuredProps) {
  const minutes = useNow((nowMs) => Math.ceil((startMs + HOUR_MS - nowMs) / MINUTE_MS), [startMs]);
  if (pct == null && minutes > 0) return <span class="soft">{`in ${minutes} min`}</span>;
  if (pct == null) return <span title="Not measured, or not yet">–</span>;
  return isHardToSell(why) && pct > 0 ? (
    <span title="May not be realizable">{formatPct(pct)}</span>
  ) : (
    <Change pct={pct} />
  );
}

/** Returns the group's word for a flare's market, to show beside its symbol: an exchange's name. */
export function marketTag(flare: AnyFlare): string | undefined {
  return "exchange" in flare && typeof flare.exchange === "string" ? flare.exchange : undefined;
}
