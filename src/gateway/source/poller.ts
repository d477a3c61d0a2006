import { backOffMs } from "../../base/lib/time/back-off.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { Snapshot } from "../../base/model/index.ts";
import type { EventBody } from "../../base/protocol/index.ts";
import { toEvents } from "./events.ts";
import type { SnapshotSource } from "./snapshot-source.ts";

/** A new state, and the events since the previous publication. */
export interface Publication {
  /** Event time of the observation, in milliseconds since 1970 UTC. */
  readonly observedAtMs: number;
  readonly snapshot: Snapshot;
  /** One batch, from the previous snapshot to this one. Empty only for the base. */
  readonly events: readonly EventBody[];
}

/**
 * `unchanged`: there is no difference from the previous state. `failed`: polling, comparing or
 * publishing failed.
 */
export type PollOutcome = "published" | "unchanged" | "failed";

interface PollerOptions {
  readonly source: SnapshotSource;
  /**
   * An earlier process's last publication, to compare with. Observations up to `afterMs` are
   * skipped.
   */
  readonly resume?: { readonly snapshot: Snapshot; readonly afterMs: number };
  /**
   * Publishes one result at a time. It must reject only if nobody can have seen the events: the
   * next publication then includes them again.
   */
  readonly publish: (publication: Publication) => Promise<void> | void;
  /**
   * Called after each publication, for work whose failure must not repeat the events. If it throws,
   * `onError` receives the error and the loop continues without a pause.
   */
  readonly afterPublish?: () => Promise<void> | void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called for each failed poll, comparison or publication; the loop continues. Must not throw. */
  readonly onError: (error: unknown) => void;
  /**
   * Called after each poll that is not skipped. `workMs`: the time for comparing and publishing.
   * Must not throw.
   */
  readonly onPoll?: (outcome: PollOutcome, workMs: number) => void;
  /** Yields [0, 1) for the jitter. Default: `Math.random`. */
  readonly random?: () => number;
}

/**
 * Polls and publishes: first the base, without events, unless `resume` is given; then each snapshot
 * that differs. Backs off after failures; the next success includes what happened meanwhile.
 * Resolves when the source ends or the signal aborts; never rejects.
 */
export async function runPoller(options: PollerOptions): Promise<void> {
  const { source, publish, clock, signal, onError } = options;
  const { random = Math.random } = options;
  const afterMs = options.resume?.afterMs ?? Number.NEGATIVE_INFINITY;
  let before = options.resume?.snapshot;
  let failures = 0;
  while (!signal.aborted) {
    let startMs: number | undefined;
    const report = (outcome: PollOutcome) =>
      options.onPoll?.(outcome, startMs === undefined ? 0 : clock.monotonic() - startMs);
    try {
      const poll = await source.poll(signal);
      if (!poll) return;
      const { observedAtMs, snapshot } = poll;
      if (observedAtMs <= afterMs) continue;
      startMs = clock.monotonic();
      const events = before ? toEvents(before, snapshot, observedAtMs) : [];
      const isNews = !before || events.length > 0;
      if (isNews) await publish({ observedAtMs, snapshot, events });
      if (isNews) source.published?.();
      before = snapshot;
      failures = 0;
      report(isNews ? "published" : "unchanged");
      if (isNews) await Promise.resolve().then(options.afterPublish).catch(onError);
    } catch (error) {
      if (signal.aborted && error === signal.reason) return;
      onError(error);
      report("failed");
      failures += 1;
      await clock.sleep(backOffMs(failures, random), signal).catch(() => undefined);
    }
  }
}
