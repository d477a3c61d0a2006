import { isoTime } from "../../lib/time/iso-time.ts";
import type { Freshness } from "../../protocol/index.ts";
import type { Told } from "./upstream-told.ts";

/** What is known of an upstream at one moment. */
export interface UpstreamHealth {
  /** Milliseconds since a whole answer was last believed, or since the start. */
  readonly silentMs: number;
  /** Wall-clock time of that answer; `undefined` before the first. */
  readonly lastSuccessAtMs: number | undefined;
  /** Event time of the data last seen. */
  readonly observedAtMs: number | undefined;
  /** What the upstream said of itself in that answer. */
  readonly told: Told;
  /** What the last poll failed of; `undefined` when it did not. */
  readonly trouble: string | undefined;
  /** True when only a part of it failed. */
  readonly partly: boolean;
  /** Why the latest answers are not believed in full; `undefined` when they are. */
  readonly doubt: string | undefined;
  readonly staleAfterMs: number;
}

/**
 * How an upstream source fares. The age of its data is the time since its last good answer and the age that the upstream gave for its
 * own data, together. `down`: polls fail altogether, and have for longer than `staleAfterMs` or from the start; or the upstream says
 * that its source is down. `stale`: the data is older than `staleAfterMs` for another reason, the upstream says that it is stale, or its answers are doubted. A
 * single failed poll is not a state of its own, only age: else every hiccup would take the service out of rotation. The
 * reason holds no number that grows, so that it changes only when the matter does.
 */
export function judgeUpstream(health: UpstreamHealth): Freshness {
  const { lastSuccessAtMs, observedAtMs } = health;
  return {
    ...stateOf(health),
    observed_at: timestamp(observedAtMs),
    last_success_at: timestamp(lastSuccessAtMs),
    data_age_ms: Math.max(0, Math.round(health.silentMs + health.told.dataAgeMs)),
  };
}

function stateOf(health: UpstreamHealth): Pick<Freshness, "state" | "reason"> {
  const { silentMs, told, trouble, partly, doubt, staleAfterMs } = health;
  const never = health.lastSuccessAtMs === undefined;
  const silent = silentMs > staleAfterMs;
  if (trouble !== undefined && (never || silent))
    return { state: partly ? "stale" : "down", reason: trouble };
  if (never) return { state: "stale", reason: "the upstream has not answered yet" };
  if (told.state === "down") return { state: "down", reason: "the upstream says that its source is down" };
  if (doubt !== undefined) return { state: "stale", reason: doubt };
  if (silent) return { state: "stale", reason: `no answer for more than ${staleAfterMs} ms` };
  if (told.state === "stale") return { state: "stale", reason: "the upstream says that its source is stale" };
  if (silentMs + told.dataAgeMs > staleAfterMs) {
    return { state: "stale", reason: `the upstream's data is older than ${staleAfterMs} ms` };
  }
  return { state: "live", reason: "" };
}

function timestamp(atMs: number | undefined): string | null {
  return atMs === undefined ? null : isoTime(atMs);
}
