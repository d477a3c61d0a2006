import type { Head } from "./hub/index.ts";
import type { KeptLog } from "./log/index.ts";
import { applyEvent, type EventBody, type Snapshot } from "./protocol/index.ts";
import type { EngineCheckpoint } from "./trend/index.ts";

/** How far an engine has come, at a moment at which its snapshot is the head's. */
export interface EngineProgress {
  /** Event time of the `clock` event that the engine took last. */
  readonly afterMs: number;
  readonly checkpoint: EngineCheckpoint;
}

/** What a process goes on from: the state at the log's head, and the engine as it was at that moment or a little before. */
export interface RestoredState {
  readonly snapshot: Snapshot;
  /** Event time of the snapshot. */
  readonly observedAtMs: number;
  readonly engine: EngineProgress | undefined;
}

/** The state of one instant as text, for {@link restoreState}. */
export function formatState(head: Head, engine: EngineProgress | undefined): string {
  const { snapshot, observedAtMs } = head;
  return JSON.stringify({ observedAtMs, snapshot, engine } satisfies RestoredState);
}

/**
 * The state at the head of a log that was kept: the state kept last, and every event behind it applied (law L2). Or why it can't be had,
 * as the second half of a sentence: the log is of another source or settings, doubtful, or not whole.
 */
export function restoreState(
  kept: KeptLog,
  fingerprint: string,
  needsEngine: boolean,
): RestoredState | { readonly problem: string } {
  const { state, records, doubt } = kept;
  if (doubt !== undefined) return { problem: doubt };
  if (kept.fingerprint !== fingerprint)
    return { problem: "the recording, its profiles or the settings of the engine are not those of the log" };
  if (!state) return { problem: "the process before ended before it had shown anything" };
  try {
    const base = parseState(state.text);
    if (needsEngine && !base.engine) return { problem: "no checkpoint of the engine was kept" };
    if (kept.oldest > state.seq)
      return { problem: `the events ${state.seq + 1} to ${kept.oldest} are missing` };
    let { snapshot, observedAtMs } = base;
    for (const { seq, tail } of records) {
      if (seq <= state.seq) continue;
      const event: EventBody = JSON.parse(`{${tail.toString("utf8")}`);
      if (event.channel === "status") continue;
      snapshot = applyEvent(snapshot, event) as Snapshot;
      observedAtMs = Date.parse(event.observed_at);
    }
    return { snapshot, observedAtMs, engine: base.engine };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `the state that was kept cannot be read (${reason})` };
  }
}

function parseState(text: string): RestoredState {
  const state: RestoredState = JSON.parse(text);
  if (typeof state.snapshot !== "object" || !Number.isFinite(state.observedAtMs))
    throw new TypeError("it is no state of a gateway");
  return { snapshot: state.snapshot, observedAtMs: state.observedAtMs, engine: state.engine };
}
