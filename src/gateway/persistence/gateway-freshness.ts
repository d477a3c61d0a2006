import type { Clock } from "../../base/lib/time/clock.ts";
import { isoTime } from "../../base/lib/time/iso-time.ts";
import type { Freshness } from "../../base/protocol/index.ts";
import type { SnapshotSource } from "../source/index.ts";
import type { OpenSource } from "../source/opened-source.ts";

interface FreshSource {
  readonly kind: OpenSource["kind"];
  readonly source: Pick<SnapshotSource, "info" | "freshness">;
  readonly resume?: { readonly observedAtMs: number };
}

/** A part of the gateway that may have something to report. */
type Reporter = { readonly trouble?: string | undefined } | undefined;

/** Returns the source's freshness, with what other parts of the gateway report. */
export function freshnessOf(
  { kind, source, resume }: FreshSource,
  clock: Clock,
  others: readonly Reporter[],
): Freshness {
  const fresh = source.freshness();
  // A follower's own freshness already has the age that its leader states.
  const served = kind === "snapshots" && fresh.observed_at === null ? resume : undefined;
  const isRecorded = source.info.origin === "recorded";
  const reasons = [
    served ? "the lists are those of the previous run" : "",
    fresh.reason,
    ...others.map((part) => part?.trouble ?? ""),
  ];
  return {
    ...fresh,
    ...(served && ageOf(fresh, served.observedAtMs, clock.now(), isRecorded)),
    reason: reasons.filter((reason) => reason !== "").join("; "),
  };
}

/**
 * Returns the age of the previous run's lists, which are served until the source's first data. A
 * recorded market's time says nothing about the data's age.
 */
function ageOf(fresh: Freshness, observedAtMs: number, nowMs: number, isRecorded: boolean) {
  const data_age_ms = Math.max(fresh.data_age_ms, isRecorded ? 0 : nowMs - observedAtMs);
  return {
    observed_at: isoTime(observedAtMs),
    last_success_at: isoTime(nowMs - data_age_ms),
    data_age_ms,
  };
}
