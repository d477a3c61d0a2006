import type { Clock } from "../lib/time/clock.ts";
import type { Snapshot } from "../model/index.ts";
import type { EventBody } from "../protocol/index.ts";
import { toEvents } from "./events.ts";
import type { SnapshotSource } from "./snapshot-source.ts";

/** What one poll brought: the state, and what happened since the publication before. */
export interface Publication {
  /** Event time of the observation, in milliseconds since 1970 UTC. */
  readonly observedAtMs: number;
  readonly snapshot: Snapshot;
  /** One batch: it takes the snapshot published before to this one, exactly. Empty for the base, which is the first. */
  readonly events: readonly EventBody[];
}

/** What became of a poll: its state was published, was that of the poll before, or could not be had or published. */
export type PollOutcome = "published" | "unchanged" | "failed";

/** Options of {@link runPoller}. */
export interface PollerOptions {
  readonly source: SnapshotSource;
  /**
   * What was published last by a process before this one. Then there is no base: the first poll is compared with it, and polls of event
   * times up to `afterMs`, as of an engine that is catching up, are passed over.
   */
  readonly resume?: { readonly snapshot: Snapshot; readonly afterMs: number };
  /** Makes a publication known. Awaited, so publications come one after the other. Where it rejects, nothing of the publication is taken as known. */
  readonly publish: (publication: Publication) => Promise<void> | void;
  readonly clock: Clock;
  /** Ends the loop. */
  readonly signal: AbortSignal;
  /** Told of each failed poll, comparison or publication; the loop goes on. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** Told of each poll; `workMs` is what comparing and publishing took, 0 where the poll itself failed. Must not throw. */
  readonly onPoll?: (outcome: PollOutcome, workMs: number) => void;
  /** From 0 up to 1, for the jitter. Default `Math.random`. */
  readonly random?: () => number;
  /** Shortest wait after a failure, in milliseconds. Default 1,000. */
  readonly retryFloorMs?: number;
  /** Most that is added to it by chance, in milliseconds. Default 30,000. */
  readonly retryJitterMs?: number;
}

/**
 * Polls the source, and publishes what changed: first the base, without events, then each later snapshot that differs, with the events from the
 * one published before. A failure is reported and followed by a wait of the floor and, by full jitter, up to as much again as the floor,
 * doubled with each failure in a row; what happened meanwhile is in the next publication that succeeds.
 *
 * Resolves when the source has ended or the signal aborts; never rejects.
 */
export async function runPoller(options: PollerOptions): Promise<void> {
  const { source, publish, clock, signal, onError } = options;
  const { random = Math.random, retryFloorMs = 1_000, retryJitterMs = 30_000 } = options;
  const afterMs = options.resume?.afterMs ?? Number.NEGATIVE_INFINITY;
  let before = options.resume?.snapshot;
  let failures = 0;
  while (!signal.aborted) {
    let beganMs: number | undefined;
    const told = (outcome: PollOutcome) =>
      options.onPoll?.(outcome, beganMs === undefined ? 0 : clock.monotonic() - beganMs);
    try {
      const poll = await source.poll(signal);
      if (!poll) return;
      const { observedAtMs, snapshot } = poll;
      if (observedAtMs <= afterMs) continue;
      beganMs = clock.monotonic();
      const events = before ? toEvents(before, snapshot, observedAtMs) : [];
      const isNews = !before || events.length > 0;
      if (isNews) await publish({ observedAtMs, snapshot, events });
      told(isNews ? "published" : "unchanged");
      before = snapshot;
      failures = 0;
    } catch (error) {
      if (signal.aborted && error === signal.reason) return;
      onError(error);
      told("failed");
      const jitterMs = random() * Math.min(retryJitterMs, retryFloorMs * 2 ** failures);
      failures += 1;
      await clock.sleep(retryFloorMs + jitterMs, signal).catch(() => undefined);
    }
  }
}
