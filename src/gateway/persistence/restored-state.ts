import { deflateSync, inflateSync } from "node:zlib";
import type { Head, KnownLists } from "../../hub/index.ts";
import type { ListCheckpoint, StoredLog } from "../../log/index.ts";
import {
  advanceLists,
  type EventBody,
  formatLists,
  type Lists,
  parseLists,
  toSeq,
} from "../../protocol/index.ts";
import type { EngineCheckpoint } from "../../trend/index.ts";

/** How far an engine has come, at a moment at which its snapshot is the head's. */
export interface EngineProgress {
  /** Event time of the `clock` event that the engine took last. */
  readonly afterMs: number;
  readonly checkpoint: EngineCheckpoint;
  /** Event time at which its market began, where that is a simulated one. */
  readonly beganAtMs?: number;
}

/** What a process goes on from: the state at the log's head, and the engine as it was at that moment or a little before. */
export interface RestoredState {
  /** The lists, at the head and at places before it. */
  readonly known: KnownLists;
  /** Event time of the snapshot. */
  readonly observedAtMs: number;
  readonly engine: EngineProgress | undefined;
}

/** What the text of a state holds; its lists are those of its place. */
type StoredState = Pick<RestoredState, "observedAtMs" | "engine">;

/** Speed before size: it is done on the way of the events. */
const LIGHT = { level: 1 };

/** The state of one instant as text, for {@link restoreState}. */
export function formatState({ observedAtMs }: Head, engine: EngineProgress | undefined): string {
  return JSON.stringify({ observedAtMs, engine } satisfies StoredState);
}

/** The lists of one place of the log as bytes, for {@link restoreState}. */
export function formatPlace(lists: Lists): Uint8Array {
  return deflateSync(formatLists(lists), LIGHT);
}

/**
 * The state at the head of a log that was kept: the state kept last, and every event behind it applied (law L2). Or why it can't be had,
 * as the second half of a sentence: the log is of another source or settings, doubtful, or not whole.
 */
export function restoreState(
  kept: StoredLog,
  fingerprint: string,
  needsEngine: boolean,
): RestoredState | { readonly problem: string } {
  const { state, records, checkpoints, doubt } = kept;
  if (doubt !== undefined) return { problem: doubt };
  if (kept.fingerprint !== fingerprint)
    return {
      problem: `the recording, its profiles or the settings of the engine are not those of the log (${differing(kept.fingerprint, fingerprint)})`,
    };
  if (!state) return { problem: "the process before ended before it had shown anything" };
  try {
    const base = parseState(state.text);
    if (needsEngine && !base.engine) return { problem: "no checkpoint of the engine was kept" };
    if (kept.oldest > state.seq)
      return { problem: `the events ${state.seq + 1} to ${kept.oldest} are missing` };
    const place = checkpoints.find(({ seq }) => seq === state.seq);
    if (!place) return { problem: "the lists of its state are missing" };
    let { observedAtMs } = base;
    let lists = readPlace(place);
    for (const { seq, tail } of records) {
      if (seq <= state.seq) continue;
      const event: EventBody = JSON.parse(`{${tail.toString("utf8")}`);
      if (event.channel === "status") continue;
      lists = advanceLists(lists, event);
      observedAtMs = Date.parse(event.observed_at);
    }
    const before = checkpoints.map((one) => ({ seq: toSeq(one.seq), lists: () => readPlace(one) }));
    return { known: { lists, places: before }, observedAtMs, engine: base.engine };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `the state that was kept cannot be read (${reason})` };
  }
}

/** The lists that {@link formatPlace} made this of. Throws where it did not. */
export function readPlace({ bytes }: Pick<ListCheckpoint, "bytes">): Lists {
  return parseLists(inflateSync(bytes).toString("utf8"));
}

function parseState(text: string): StoredState {
  const { observedAtMs, engine }: StoredState = JSON.parse(text);
  if (!Number.isFinite(observedAtMs)) throw new TypeError("it is no state of a gateway");
  return { observedAtMs, engine };
}

/** Names the settings in which two fingerprints differ. */
function differing(before: string, now: string): string {
  const [old, present] = [before, now].map((text): Record<string, unknown> => Object(parsedOr(text)));
  const names = Object.keys({ ...old, ...present });
  const isOther = (name: string) => JSON.stringify(old?.[name]) !== JSON.stringify(present?.[name]);
  return `other: ${names.filter(isOther).join(", ") || "all"}`;
}

/** `undefined` for what is no JSON: a fingerprint may be of another version. */
function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
