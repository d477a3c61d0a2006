import { messageOf } from "../../base/lib/text/message-of.ts";
import { advanceLists, type EventBody, toSeq } from "../../base/protocol/index.ts";
import { decodeLists, type RestoredState, readState } from "../../gateway/persistence/index.ts";
import type { StoredLog } from "./stored-log.ts";

/**
 * Restores the state at the head: the last stored one plus later events (law L2). Returns a
 * problem, as the second half of a sentence, if the log is from another source or other settings,
 * has no usable state, may lack events, or is damaged.
 */
export function restoreState(
  stored: StoredLog,
  fingerprint: string,
  needsEngine: boolean,
): RestoredState | { readonly problem: string } {
  const { state, records, checkpoints, doubt } = stored;
  if (doubt !== undefined) return { problem: doubt };
  const base = readState({ ...stored, ...state, text: state?.text }, fingerprint, needsEngine);
  if ("problem" in base) return base;
  if (!state) return { problem: "no state was stored" };
  try {
    if (stored.oldest > state.seq)
      return { problem: `the events ${state.seq + 1} to ${stored.oldest} are missing` };
    const checkpoint = checkpoints.find(({ seq }) => seq === state.seq);
    if (!checkpoint) return { problem: "the lists of the stored state are missing" };
    let { observedAtMs } = base;
    let lists = decodeLists(checkpoint);
    for (const { seq, encoded } of records) {
      if (seq <= state.seq) continue;
      const event: EventBody = JSON.parse(`{${encoded.toString("utf8")}`);
      if (event.channel === "status") continue;
      lists = advanceLists(lists, event);
      observedAtMs = Date.parse(event.observed_at);
    }
    const before = checkpoints.map((one) => ({ seq: toSeq(one.seq), lists: () => decodeLists(one) }));
    return { known: { lists, checkpoints: before }, observedAtMs, engine: base.engine };
  } catch (error) {
    return { problem: `the stored state cannot be read (${messageOf(error)})` };
  }
}
