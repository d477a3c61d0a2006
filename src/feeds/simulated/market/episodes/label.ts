import type { MarketGroup } from "../../../../base/market/index.ts";

/** The kinds of episodes that the simulated market plans. */
export type LabelKind =
  | "pump"
  | "rug"
  | "honeypot"
  | "wash"
  | "thin"
  | "dust"
  | "rebalance"
  | "jit"
  | "migration"
  | "wide"
  | "slump"
  | "outage"
  | "listing";

/** The shapes of an honest pump. `launch` is the first rise of a newly listed token. */
export type PumpShape = "sharp" | "staircase" | "slow-burn" | "pump-and-dump" | "launch";

/**
 * Ground truth about one planned episode, complete at its start; prices follow it up to noise. A
 * token has one of `pump`, `rug`, `honeypot`, `wash` and `thin` at a time; others may overlap.
 */
export interface Label {
  readonly kind: LabelKind;
  /**
   * `pump`: a PumpShape. `rug`: `hype` (after a pump), `quiet`, `drain` (in several removals).
   * `honeypot`: `hype`. `wash`: `pair` or `ring`. `thin`: `tick`. `wide`: `up`, `down`. `listing`:
   * the outcome: `honest`, `rug`, `honeypot`. `dust`: `burst`. `rebalance`: `range`. `jit`,
   * `migration`: `atomic` within one moment, else `blocks`. `slump`: `fall`. `outage`: `chain`, or
   * `venue 1` to `venue 3` for one of the exchange's three venues.
   */
  readonly shape: string;
  /** `null` for `wide` and `slump`, which move every group. */
  readonly group: MarketGroup | null;
  /** The token as named in its trades or candles; `null` for `wide`, `slump` and `outage`. */
  readonly token: string | null;
  readonly startAtMs: number;
  /**
   * Event time at which the episode ends. `pump`, `thin`, `rug`: the price has settled. `honeypot`:
   * seconds after the liquidity is removed. `slump`: the low, before the recovery. `listing`: a
   * fixed 15 minutes after the start.
   */
  readonly endAtMs: number;
  /**
   * `pump`, `thin`: the rise from start to peak as a share (0.1 is +10 %). `wide`: the move,
   * negative if down. `rug`, `honeypot`: the share of the liquidity that is removed in total, from
   * `removedAtMs` on. `wash`: trades per minute as a multiple of the usual. `listing`: liquidity in
   * US dollars. `dust`: the expected number of trades. `rebalance`, `jit`, `migration`: the share
   * of the pool that is withdrawn. `slump`: the fall, negative. `outage`: minutes.
   */
  readonly size: number;
  /** When the price is planned to peak; `null` if no peak is planned, as in a `quiet` rug. */
  readonly peakAtMs: number | null;
  /** When (the first part of) the liquidity is removed; `null` if it is not. */
  readonly removedAtMs: number | null;
}

/** Returns the label of an episode that starts at `nowMs`: everywhere, in a group or on a token. */
export function labelOf(
  { group, token, nowMs }: Pick<Label, "group" | "token"> & { readonly nowMs: number },
  kind: LabelKind,
  shape: string,
  endAtMs: number,
  size: number,
  { peakAtMs = null, removedAtMs = null }: Partial<Pick<Label, "peakAtMs" | "removedAtMs">> = {},
): Label {
  return { kind, shape, group, token, startAtMs: nowMs, endAtMs, size, peakAtMs, removedAtMs };
}

export type LabelSink = (label: Label) => void;
