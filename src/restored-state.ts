import type { Head, Past } from "./hub/index.ts";
import type { KeptLog } from "./log/index.ts";
import {
  advanceLists,
  type EventBody,
  formatMarks,
  type Lists,
  MarksText,
  readMarks,
  type Snapshot,
  toSeq,
} from "./protocol/index.ts";
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
  /** The snapshot with what its items were before, here and at an earlier place; `undefined` where that was not kept. */
  readonly past: Past | undefined;
  /** Event time of the snapshot. */
  readonly observedAtMs: number;
  readonly engine: EngineProgress | undefined;
}

/** What is kept of one instant. */
interface KeptState {
  readonly observedAtMs: number;
  readonly snapshot: Snapshot;
  readonly marks: MarksText | undefined;
  readonly engine: EngineProgress | undefined;
}

/** The state of one instant as text, for {@link restoreState}. `lists`: those of the head. */
export function formatState(head: Head, lists: Lists, engine: EngineProgress | undefined): string {
  const { snapshot, observedAtMs } = head;
  return JSON.stringify({ observedAtMs, snapshot, marks: formatMarks(lists), engine } satisfies KeptState);
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
    const first = records[0];
    if (first && first.seq > state.seq + 1)
      return { problem: `the events ${state.seq + 1} to ${first.seq - 1} are missing` };
    let { observedAtMs } = base;
    const earlier = readMarks(base.snapshot, base.marks ?? {});
    let lists = earlier;
    for (const { seq, tail } of records) {
      if (seq <= state.seq) continue;
      const event: EventBody = JSON.parse(`{${tail.toString("utf8")}`);
      if (event.channel === "status") continue;
      lists = advanceLists(lists, event);
      observedAtMs = Date.parse(event.observed_at);
    }
    const { snapshot } = lists;
    const past = base.marks && { lists, earlier: { seq: toSeq(state.seq), lists: earlier } };
    return { snapshot, past, observedAtMs, engine: base.engine };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `the state that was kept cannot be read (${reason})` };
  }
}

function parseState(text: string): KeptState {
  const state: KeptState = JSON.parse(text);
  if (typeof state.snapshot !== "object" || !Number.isFinite(state.observedAtMs))
    throw new TypeError("it is no state of a gateway");
  return { ...state, marks: MarksText.safeParse(state.marks).data };
}
