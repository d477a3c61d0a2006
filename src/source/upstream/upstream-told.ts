import { Timestamp } from "../../model/index.ts";
import { SourceInfo, SourceState } from "../../protocol/index.ts";

/** What an upstream says of itself in the headers of its answers. */
export interface Told {
  /** `Flarewire-Data-Age`: milliseconds since its own source was last heard of. 0 where it does not say. */
  readonly dataAgeMs: number;
  /** `Flarewire-Source-State`: how its own source fares. `live` where it does not say. */
  readonly state: SourceState;
  /** `Flarewire-Origin`: whether its market is `live`, `recorded` or `simulated`. `live` where it does not say. */
  readonly origin: SourceInfo["origin"];
  /** `Flarewire-Facts`: what its source can know. Everything where it does not say: nothing that it serves is doubted. */
  readonly facts: SourceInfo["facts"];
  /** `Flarewire-Observed-At`: event time that it has reached, also while nothing changes. `undefined` where it does not say. */
  readonly observedAtMs: number | undefined;
}

/** What is believed of an upstream that says nothing. */
export const NOTHING_TOLD: Told = {
  dataAgeMs: 0,
  state: "live",
  origin: "live",
  facts: { trades: true, liquidity: true, listings: true, profiles: true },
  observedAtMs: undefined,
};

const MAX_AGE_SECONDS = 1e9;

/** Reads the headers. What is absent or makes no sense is taken from `otherwise`: of a 304, which may leave headers out, what was told last. */
export function readTold(headers: Headers, otherwise: Told): Told {
  const age = headers.get("flarewire-data-age") ?? "";
  return {
    dataAgeMs: /^\d+(\.\d+)?$/.test(age)
      ? Math.min(Number(age), MAX_AGE_SECONDS) * 1_000
      : otherwise.dataAgeMs,
    state: SourceState.safeParse(headers.get("flarewire-source-state")).data ?? otherwise.state,
    origin: SourceInfo.shape.origin.safeParse(headers.get("flarewire-origin")).data ?? otherwise.origin,
    facts: readFacts(headers.get("flarewire-facts")) ?? otherwise.facts,
    observedAtMs: readTime(headers.get("flarewire-observed-at")) ?? otherwise.observedAtMs,
  };
}

/** `trades, profiles`: the facts that are known; those not named are not. `none`: none is. */
function readFacts(text: string | null): SourceInfo["facts"] | undefined {
  if (text === null) return undefined;
  const names = text.split(",").map((name) => name.trim());
  const has = (name: keyof SourceInfo["facts"]) => names.includes(name);
  return {
    trades: has("trades"),
    liquidity: has("liquidity"),
    listings: has("listings"),
    profiles: has("profiles"),
  };
}

function readTime(text: string | null): number | undefined {
  const read = Timestamp.safeParse(text);
  const atMs = read.success ? Date.parse(read.data) : Number.NaN;
  return Number.isFinite(atMs) ? atMs : undefined;
}

const FROM_BEST = ["live", "stale", "down"] as const satisfies readonly SourceState[];

/** What several answers say together: the greatest age, the worst state, the first origin that is not `live`. */
export function joinTold(all: readonly Told[]): Told {
  return {
    dataAgeMs: Math.max(0, ...all.map(({ dataAgeMs }) => dataAgeMs)),
    state: FROM_BEST.findLast((state) => all.some((told) => told.state === state)) ?? "live",
    origin: all.find(({ origin }) => origin !== "live")?.origin ?? "live",
    facts: all[0]?.facts ?? NOTHING_TOLD.facts,
    observedAtMs: all.find(({ observedAtMs }) => observedAtMs !== undefined)?.observedAtMs,
  };
}
