import { isoTime } from "../../base/lib/time/iso-time.ts";
import type { Freshness } from "../../base/protocol/index.ts";
import type { UpstreamStatus } from "./upstream-status.ts";

/** An upstream's health at one moment. */
export interface UpstreamHealth {
  /** Milliseconds since the last complete response was accepted, or since the start. */
  readonly silentMs: number;
  /** Wall-clock time of that response; `undefined` before the first. */
  readonly lastSuccessAtMs: number | undefined;
  /** Event time of the latest data. */
  readonly observedAtMs: number | undefined;
  /** The upstream's own status in its latest response, even if that was incomplete or doubted. */
  readonly status: UpstreamStatus;
  /** Why the last poll failed; `undefined` if it did not. */
  readonly trouble: string | undefined;
  /** Whether only a part of the poll failed. */
  readonly partly: boolean;
  /** Why recent responses are not fully accepted; `undefined` if they are. */
  readonly doubt: string | undefined;
  /** Says that it takes long to answer; `undefined` if it does not. */
  readonly slowness: string | undefined;
  readonly staleAfterMs: number;
}

/**
 * Rates an upstream's freshness. The data's age is the time since the last complete, accepted
 * response plus the age that the latest response stated.
 *
 * `down`: the last poll failed completely, and no complete response was accepted within
 * `staleAfterMs`, or ever. `stale`: the same, but the last poll failed only in part. Otherwise the
 * state is `down` if the upstream reports that its source is, and `stale` if it has not responded
 * yet, if its responses are doubted, if it reports that its source is stale, or if the data is too
 * old. After a success, one failed poll only adds age. The reason never contains the age.
 */
export function judgeUpstream(health: UpstreamHealth): Freshness {
  const { lastSuccessAtMs, observedAtMs } = health;
  return {
    ...stateOf(health),
    observed_at: timestamp(observedAtMs),
    last_success_at: timestamp(lastSuccessAtMs),
    data_age_ms: Math.max(0, Math.round(health.silentMs + health.status.dataAgeMs)),
  };
}

function stateOf(health: UpstreamHealth): Pick<Freshness, "state" | "reason"> {
  const { silentMs, status, trouble, partly, doubt, slowness, staleAfterMs } = health;
  const never = health.lastSuccessAtMs === undefined;
  const silent = silentMs > staleAfterMs;
  if (trouble !== undefined && (never || silent))
    return { state: partly ? "stale" : "down", reason: trouble };
  if (never) return { state: "stale", reason: "the upstream has not responded yet" };
  if (status.state === "down")
    return { state: "down", reason: "the upstream reports that its source is down" };
  if (doubt !== undefined) return { state: "stale", reason: doubt };
  if (silent) return { state: "stale", reason: `no response for more than ${staleAfterMs} ms` };
  if (status.state === "stale")
    return { state: "stale", reason: "the upstream reports that its source is stale" };
  if (silentMs + status.dataAgeMs > staleAfterMs) {
    return { state: "stale", reason: `the upstream's data is older than ${staleAfterMs} ms` };
  }
  return { state: "live", reason: slowness === undefined ? "" : `the upstream ${slowness}` };
}

function timestamp(atMs: number | undefined): string | null {
  return atMs === undefined ? null : isoTime(atMs);
}
