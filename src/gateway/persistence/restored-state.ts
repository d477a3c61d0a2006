import { deflateSync, inflateSync } from "node:zlib";
import { parseJson } from "../../base/lib/parse-json.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { completeSnapshot } from "../../base/model/index.ts";
import { formatMarks, type Lists, MarksText, readMarks } from "../../base/protocol/index.ts";
import type { Head, KnownLists } from "../hub/index.ts";

/** An engine's progress at the moment of the head's snapshot. */
export interface EngineProgress {
  /** Event time of the last `clock` event that the engine processed. */
  readonly afterMs: number;
  /** What the engine stores of itself. Only the engine knows its form. */
  readonly checkpoint: unknown;
  /** The rest of it, in pieces of bounded size: packed, or read, as they are iterated. */
  readonly slices?: Iterable<string> | undefined;
  /** Event time at which a simulated market began. */
  readonly beganAtMs?: number;
}

/** State to resume from: the head of the log, and the engine at that moment or slightly before. */
export interface RestoredState {
  /** The lists at the head and at earlier positions. */
  readonly known: KnownLists;
  readonly observedAtMs: number;
  readonly engine: EngineProgress | undefined;
}

/** Contents of a stored state. Its lists and slices are stored separately. */
type StoredState = Pick<RestoredState, "observedAtMs" | "engine">;

const NO_SNAPSHOT = "the previous process ended before its first snapshot";

/** A low level, because compression delays events. */
export const FAST_COMPRESSION = { level: 1 };

/** Serializes the state of one moment, without slices, for {@link readState}. */
export function formatState({ observedAtMs }: Head, engine: EngineProgress | undefined): string {
  const rest = engine && { ...engine, slices: undefined };
  return JSON.stringify({ observedAtMs, engine: rest } satisfies StoredState);
}

/** Serializes the lists of one log position for {@link decodeLists}. */
export function encodeLists(lists: Lists): Uint8Array {
  const text = JSON.stringify({ snapshot: lists.snapshot, marks: formatMarks(lists) });
  return deflateSync(text, FAST_COMPRESSION);
}

/**
 * Reads the result of {@link formatState}. Returns a problem, as the second half of a sentence, if
 * the state is missing, damaged, or from another source or other settings.
 */
export function readState(
  stored: { readonly fingerprint: string; readonly text: string | undefined } & Pick<
    EngineProgress,
    "slices"
  >,
  fingerprint: string,
  needsEngine: boolean,
): StoredState | { readonly problem: string } {
  if (stored.fingerprint !== fingerprint) {
    const which = differing(stored.fingerprint, fingerprint);
    return {
      problem: `the recording, its profiles or the engine's settings differ from those of the log (${which})`,
    };
  }
  if (stored.text === undefined) return { problem: NO_SNAPSHOT };
  try {
    const base = parseState(stored.text, stored.slices);
    return needsEngine && !base.engine ? { problem: "no checkpoint of the engine was stored" } : base;
  } catch (error) {
    return { problem: unreadable(error) };
  }
}

function unreadable(error: unknown): string {
  return `the stored state cannot be read (${messageOf(error)})`;
}

/** Parses the result of {@link encodeLists}. Throws if it is invalid. */
export function decodeLists({ bytes }: { readonly bytes: Uint8Array }): Lists {
  const { snapshot, marks } = JSON.parse(inflateSync(bytes).toString("utf8"));
  return readMarks(completeSnapshot(snapshot), MarksText.parse(marks));
}

function parseState(text: string, slices: EngineProgress["slices"]): StoredState {
  const { observedAtMs, engine }: StoredState = JSON.parse(text);
  if (!Number.isFinite(observedAtMs)) throw new TypeError("not a gateway's stored state");
  return { observedAtMs, engine: engine && { ...engine, slices } };
}

/** Names the settings in which two fingerprints differ. One may be of another version. */
function differing(before: string, now: string): string {
  const [old, present] = [before, now].map((text): Record<string, unknown> => Object(parseJson(text)));
  const names = Object.keys({ ...old, ...present });
  const isOther = (name: string) => JSON.stringify(old?.[name]) !== JSON.stringify(present?.[name]);
  return names.filter(isOther).join(", ") || "all";
}
