import { EMPTY_SNAPSHOT, keyOf, Snapshot } from "../../model/index.ts";
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
} from "../../protocol/index.ts";
import { fieldOf, sanitize } from "../upstream/upstream-json.ts";

/** An event as the leader placed it. */
export interface PlacedEvent {
  readonly seq: number;
  /** Seq of its batch's last event. */
  readonly batch: number;
  readonly emittedAtMs: number;
  /** The run that appended it; left out in the epoch's first. */
  readonly run?: Run | undefined;
  readonly body: EventBody;
  /** As encodeTail makes it of the body, where it is known. */
  readonly tail?: Buffer;
}

/** A state of the leader from which its events can be followed. */
export interface LeaderBase {
  readonly observedAtMs: number;
  readonly positions: MirrorBase["positions"];
  readonly lists: Lists;
}

/** A frame of the leader, as far as a follower needs it. What came in beside the fields that are known is kept where it is served. */
export type LeaderMessage =
  | { readonly type: "hello"; readonly hello: Hello; readonly cursor: Cursor }
  | { readonly type: "resumed"; readonly cursor: Cursor }
  | { readonly type: "begun"; readonly cursor: Cursor; readonly base: LeaderBase }
  | { readonly type: "event"; readonly epoch: string; readonly event: PlacedEvent }
  | { readonly type: "heartbeat"; readonly heartbeat: Heartbeat }
  | { readonly type: "goaway"; readonly afterMs: number }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "other" };

/** A frame that no Flarewire of this version sends. */
export class ProtocolViolation extends Error {
  override readonly name = "LeaderFault";
}

/** Above what a log of ours would say: snapshots are the largest frames, and nest less than a dozen levels. */
const FRAME_BOUNDS = { levels: 40, characters: 64 * 2 ** 20 } as const;

const TOO_OLD = "it is too old to be followed: update it first";

/** Reads a frame. Throws {@link ProtocolViolation}, and nothing else, for what cannot be trusted. */
export function readLeaderMessage(text: string): LeaderMessage {
  const message = parse(text);
  switch (fieldOf(message, "type")) {
    case "hello": {
      const hello = shaped(Hello, message, "hello");
      return { type: "hello", hello, cursor: cursorOf(hello.cursor) };
    }
    case "subscribed":
      return readSubscribed(message);
    case "event":
      return readEvent(message);
    case "heartbeat":
      return { type: "heartbeat", heartbeat: shaped(Heartbeat, message, "heartbeat") };
    case "goaway":
      return { type: "goaway", afterMs: shaped(Goaway, message, "goaway").reconnect_after_ms };
    case "error": {
      const { code, message: reason } = shaped(ErrorMessage, message, "error");
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
    throw new ProtocolViolation("it sends what is no JSON", { cause });
  }
  const unfit = sanitize(message, FRAME_BOUNDS);
  if (unfit !== undefined) throw new ProtocolViolation(`it sends a message that is ${unfit}`);
  return message;
}

function readSubscribed(message: unknown): LeaderMessage {
  const { resumed, cursor: text, base } = shaped(Subscribed, message, "subscribed");
  const cursor = cursorOf(text);
  if (resumed === "full") return { type: "resumed", cursor };
  if (!base) throw new ProtocolViolation(TOO_OLD);
  const positions = Object.fromEntries(CHANNELS.map((channel) => [channel, base.positions[channel] ?? 0]));
  const highest = Math.max(...Object.values(positions));
  if (highest !== cursor.seq)
    throw new ProtocolViolation(`its latest event is ${highest}, and its cursor ${cursor.seq}`);
  const snapshot = snapshotOf(fieldOf(message, "snapshot"));
  const observedAtMs = Date.parse(base.observed_at);
  const lists = readMarks(snapshot, base.marks);
  return { type: "begun", cursor, base: { observedAtMs, positions, lists } };
}

/** The snapshot as it came, with fields that this version does not know. */
function snapshotOf(value: unknown): Snapshot {
  shaped(Snapshot, value, "snapshot");
  const given = value as Snapshot;
  const entries = Object.keys(EMPTY_SNAPSHOT).map((part) => [part, fieldOf(given, part)]);
  const snapshot = Object.fromEntries(entries) as Snapshot;
  for (const channel of LIST_CHANNEL_NAMES) {
    const keys = listOf(snapshot, channel).map(keyOf);
    if (new Set(keys).size !== keys.length)
      throw new ProtocolViolation(`its list ${channel} has an item twice`);
  }
  return snapshot;
}

function readEvent(message: unknown): LeaderMessage {
  const { cursor, seq, batch, emitted_at } = shaped(EventMessage, message, "event");
  if (batch === undefined) throw new ProtocolViolation(TOO_OLD);
  const { epoch, seq: place, run } = cursorOf(cursor);
  if (place !== seq) throw new ProtocolViolation(`its event ${seq} has the cursor ${place}`);
  // As it came: the schema leaves out fields that this version does not know.
  const { name, channel, observed_at, data } = message as EventBody;
  const body = { name, channel, observed_at, data } as EventBody;
  return { type: "event", epoch, event: { seq, batch, emittedAtMs: Date.parse(emitted_at), body, run } };
}

function cursorOf(text: string): Cursor {
  const cursor = parseCursor(text);
  if (!cursor) throw new ProtocolViolation("it sends a cursor of another form");
  return cursor;
}

interface Schema<T> {
  safeParse(value: unknown): { readonly data?: T; readonly error?: { readonly issues: readonly Issue[] } };
}
type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

function shaped<T>(schema: Schema<T>, value: unknown, what: string): T {
  const { data, error } = schema.safeParse(value);
  if (data !== undefined) return data;
  const [issue] = error?.issues ?? [];
  const where = [what, ...(issue?.path ?? [])].map(String).join(".").slice(0, 100);
  throw new ProtocolViolation(`it sends ${where} in another form than this version knows`);
}
