import { Timestamp } from "../../base/model/index.ts";
import { SourceInfo, SourceState } from "../../base/protocol/index.ts";

/** An upstream's own status, from its response headers. */
export interface UpstreamStatus {
  /**
   * `Flarewire-Data-Age`, which is in seconds: milliseconds since its own source responded.
   * Default: 0.
   */
  readonly dataAgeMs: number;
  /** `Flarewire-Source-State`: the state of its own source. Default: `live`. */
  readonly state: SourceState;
  /** `Flarewire-Origin`: `live` (default), `recorded` or `simulated`. */
  readonly origin: SourceInfo["origin"];
  /** `Flarewire-Facts`: the facts that its source supports. Default: all of them. */
  readonly facts: SourceInfo["facts"];
  /** `Flarewire-Observed-At`: its event time, which advances even without changes. */
  readonly observedAtMs: number | undefined;
}

/** The status of an upstream that states none. */
export const DEFAULT_STATUS: UpstreamStatus = {
  dataAgeMs: 0,
  state: "live",
  origin: "live",
  facts: { trades: true, liquidity: true, listings: true, profiles: true },
  observedAtMs: undefined,
};

const MAX_AGE_SECONDS = 1e9;

/** Reads the headers. Absent or invalid ones are taken from `fallback`: a 304 may omit headers. */
export function readStatus(headers: Headers, fallback: UpstreamStatus): UpstreamStatus {
  const age = headers.get("flarewire-data-age") ?? "";
  return {
    dataAgeMs: /^\d+(\.\d+)?$/.test(age)
      ? Math.min(Number(age), MAX_AGE_SECONDS) * 1_000
      : fallback.dataAgeMs,
    state: SourceState.safeParse(headers.get("flarewire-source-state")).data ?? fallback.state,
    origin: SourceInfo.shape.origin.safeParse(headers.get("flarewire-origin")).data ?? fallback.origin,
    facts: readFacts(headers.get("flarewire-facts")) ?? fallback.facts,
    observedAtMs: readTime(headers.get("flarewire-observed-at")) ?? fallback.observedAtMs,
  };
}

/** Parses a list such as `trades, profiles`; `none` lists no fact. */
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

/**
 * Merges statuses: the greatest age, the worst state, the first origin that is not `live`, the
 * first facts, and the first event time stated.
 */
export function mergeStatuses(all: readonly UpstreamStatus[]): UpstreamStatus {
  return {
    dataAgeMs: Math.max(0, ...all.map(({ dataAgeMs }) => dataAgeMs)),
    state: FROM_BEST.findLast((state) => all.some((status) => status.state === state)) ?? "live",
    origin: all.find(({ origin }) => origin !== "live")?.origin ?? "live",
    facts: all[0]?.facts ?? DEFAULT_STATUS.facts,
    observedAtMs: all.find(({ observedAtMs }) => observedAtMs !== undefined)?.observedAtMs,
  };
}
