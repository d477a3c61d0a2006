import { firstIssue } from "../../base/lib/text/first-issue.ts";
import { fieldOf, isRecord, sanitize } from "../../base/lib/untrusted-json.ts";
import {
  byGroup,
  completeSnapshot,
  EMPTY_SNAPSHOT,
  flaresOfOthers,
  keyOf,
  NO_CANDLES,
  Snapshot,
} from "../../base/model/index.ts";
import {
  CHANNELS,
  type Cursor,
  ErrorMessage,
  type EventBody,
  EventMessage,
  Goaway,
  Heartbeat,
  Hello,
  LIST_CHANNEL_NAMES,
  type Lists,
  listOf,
  type MirrorBase,
  parseCursor,
  type Run,
  readMarks,
  Subscribed,
} from "../../base/protocol/index.ts";

/** An event with its seq in the leader's log. */
export interface ReplicatedEvent {
  readonly seq: number;
  /** The seq of the last event in its batch. */
  readonly batch: number;
  readonly emittedAtMs: number;
  readonly run?: Run | undefined;
  readonly body: EventBody;
  /** The encoded body (`log/event-log.ts`), if it exists already. Frames do not have it. */
  readonly encoded?: Buffer;
}

/** A state of the leader at which mirroring can start. */
export interface LeaderBase {
  readonly observedAtMs: number;
  readonly positions: MirrorBase["positions"];
  readonly lists: Lists;
}

/** A frame from the leader. Unknown fields of events and of the snapshot's parts are passed on. */
export type LeaderMessage =
  | { readonly type: "hello"; readonly hello: Hello; readonly cursor: Cursor }
  | { readonly type: "resumed"; readonly cursor: Cursor }
  | { readonly type: "reset"; readonly cursor: Cursor; readonly base: LeaderBase }
  | { readonly type: "event"; readonly epoch: string; readonly event: ReplicatedEvent }
  | { readonly type: "heartbeat"; readonly heartbeat: Heartbeat }
  | { readonly type: "goaway"; readonly afterMs: number }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "other" };

/** The leader sent something that no compatible leader sends. */
export class ProtocolViolation extends Error {
  override readonly name = "ProtocolViolation";
}

/** Larger than any frame of ours: snapshots are the largest, and nest less than a dozen levels. */
const FRAME_BOUNDS = { levels: 40, characters: 64 * 2 ** 20 } as const;

const TOO_OLD = "its version is too old; update the leader first";

/**
 * Parses a frame. Throws only {@link ProtocolViolation}, for frames that this version cannot
 * follow.
 */
export function readLeaderMessage(text: string): LeaderMessage {
  const message = parse(text);
  switch (fieldOf(message, "type")) {
    case "hello": {
      const hello = parseAs(Hello, message, "hello");
      return { type: "hello", hello, cursor: cursorOf(hello.cursor) };
    }
    case "subscribed":
      return readSubscribed(message);
    case "event":
      return readEvent(message);
    case "heartbeat":
      return { type: "heartbeat", heartbeat: parseAs(Heartbeat, message, "heartbeat") };
    case "goaway":
      return { type: "goaway", afterMs: parseAs(Goaway, message, "goaway").reconnect_after_ms };
    case "error": {
      const { code, message: reason } = parseAs(ErrorMessage, message, "error");
      return { type: "refused", reason: `${code}: ${reason}` };
    }
    default:
      return { type: "other" };
  }
}

function parse(text: string): unknown {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch (cause) {
    throw new ProtocolViolation("it sent invalid JSON", { cause });
  }
  const unfit = sanitize(message, FRAME_BOUNDS);
  if (unfit !== undefined) throw new ProtocolViolation(`it sent a message that ${unfit}`);
  return message;
}

function readSubscribed(message: unknown): LeaderMessage {
  const { resumed, cursor: text, base } = parseAs(Subscribed, message, "subscribed");
  const cursor = cursorOf(text);
  if (resumed === "full") return { type: "resumed", cursor };
  if (!base) throw new ProtocolViolation(TOO_OLD);
  const positions = Object.fromEntries(CHANNELS.map((channel) => [channel, base.positions[channel] ?? 0]));
  const highest = Math.max(...Object.values(positions));
  if (highest !== cursor.seq)
    throw new ProtocolViolation(`its latest event is ${highest}, but its cursor is ${cursor.seq}`);
  const { candles = NO_CANDLES } = base;
  const snapshot = { ...snapshotOf(fieldOf(message, "snapshot")), candles };
  const observedAtMs = Date.parse(base.observed_at);
  const lists = readMarks(snapshot, base.marks);
  return { type: "reset", cursor, base: { observedAtMs, positions, lists } };
}

/**
 * Returns the known parts of a snapshot as they were sent, with empty parts where earlier versions
 * send none. Candles are always empty, because the base contains them.
 */
function snapshotOf(value: unknown): Snapshot {
  const { outcomes, candles } = EMPTY_SNAPSHOT;
  const others = flaresOfOthers(byGroup(() => EMPTY_SNAPSHOT.flares));
  // A leader of an earlier version sends no outcomes, no flares of other groups, and no additional
  // groups.
  const given = isRecord(value) ? { outcomes, ...others, ...value, candles } : value;
  parseAs(Snapshot, given, "snapshot");
  const entries = Object.keys(EMPTY_SNAPSHOT).map((part) => [part, fieldOf(given, part)]);
  const snapshot = completeSnapshot(Object.fromEntries(entries));
  for (const channel of LIST_CHANNEL_NAMES) {
    const keys = listOf(snapshot, channel).map(keyOf);
    if (new Set(keys).size !== keys.length)
      throw new ProtocolViolation(`its list ${channel} contains an item twice`);
  }
  return snapshot;
}

function readEvent(message: unknown): LeaderMessage {
  const { cursor, seq, batch, emitted_at } = parseAs(EventMessage, message, "event");
  if (batch === undefined) throw new ProtocolViolation(TOO_OLD);
  const { epoch, seq: seqOfCursor, run } = cursorOf(cursor);
  if (seqOfCursor !== seq) throw new ProtocolViolation(`its event ${seq} has the cursor ${cursor}`);
  // Read the original, because the schema drops fields unknown to this version.
  const { name, channel, observed_at, data } = message as EventBody;
  const body = { name, channel, observed_at, data } as EventBody;
  return { type: "event", epoch, event: { seq, batch, emittedAtMs: Date.parse(emitted_at), body, run } };
}

function cursorOf(text: string): Cursor {
  const cursor = parseCursor(text);
  if (!cursor) throw new ProtocolViolation("it sent a malformed cursor");
  return cursor;
}

interface Schema<T> {
  safeParse(value: unknown): { readonly data?: T; readonly error?: { readonly issues: readonly Issue[] } };
}
type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

function parseAs<T>(schema: Schema<T>, value: unknown, what: string): T {
  const { data, error } = schema.safeParse(value);
  if (data !== undefined) return data;
  const { field } = firstIssue(error, value);
  const where = (field === "" ? what : `${what}.${field}`).slice(0, 100);
  throw new ProtocolViolation(`it sent ${where} in a form that this version does not know`);
}
