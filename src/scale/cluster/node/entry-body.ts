import { deflateRawSync, inflateRawSync } from "node:zlib";
import {
  CHANNELS,
  type Channel,
  type Cursor,
  EVENT_NAMES,
  type Freshness,
  type SourceInfo,
  toEpoch,
  toRun,
  toSeq,
} from "../../../base/protocol/index.ts";
import type { LogRecord } from "../../../gateway/log/index.ts";
import { FAST_COMPRESSION } from "../../../gateway/persistence/index.ts";
import type { Entry } from "../entry.ts";
import type { TaskChange } from "./cluster-task.ts";

/** A leader's report on its source. */
export interface SourceReport {
  readonly info: SourceInfo;
  readonly freshness: Freshness;
}

/** A change in a leader's log. */
export type LogUpdate =
  | { readonly type: "batch"; readonly records: readonly LogRecord[]; readonly observedAtMs: number }
  /** A new epoch starts, or the first snapshot arrives. */
  | {
      readonly type: "begin";
      readonly cursor: Cursor;
      readonly positions: Readonly<Partial<Record<Channel, number>>>;
      readonly observedAtMs: number;
      readonly lists: Uint8Array;
    };

/** What a leader writes into an entry of the cluster's log. */
export interface EntryContent {
  /** The state of the leader's source. */
  readonly report: SourceReport;
  /** The change to the gateway's log. Default: none. */
  readonly update?: LogUpdate | undefined;
  /** The change to the alerts. Default: none. */
  readonly alerts?: TaskChange | undefined;
}

/** An entry's body with the parts of its header that are needed to read it. */
interface Written extends Pick<Entry, "body"> {
  readonly header: Pick<Entry["header"], "epoch" | "term">;
}

/** The first line of the text. A batch's records follow: see {@link recordsText}. */
interface Header {
  readonly report: SourceReport;
  readonly begin?: {
    readonly seq: number;
    readonly positions: Readonly<Record<string, number>>;
    readonly observedAtMs: number;
    /** The lists, deflated, in base64. */
    readonly lists: string;
  };
  readonly batch?: { readonly observedAtMs: number };
  /** The text of `changes` is base64. */
  readonly alerts?: { readonly kind: TaskChange["kind"]; readonly text: string };
}

type RecordFields = readonly [
  seq: number,
  batch: number,
  emittedAtMs: number,
  name: string,
  channel: string,
  run?: string | undefined,
];

/** Encodes an entry's body. */
export function encodeContent({ report, update, alerts }: EntryContent): Buffer {
  const header = JSON.stringify({ report, ...headerOf(update), ...alertsHeader(alerts) } satisfies Header);
  const text = update?.type === "batch" ? `${header}\n${recordsText(update.records)}` : header;
  return deflateRawSync(text, FAST_COMPRESSION);
}

/**
 * Decodes an entry's body. Returns `undefined` if it is empty. Throws if it is malformed. Each term
 * is a run of the epoch, so that a lost event and its replacement have different cursors.
 */
export function decodeContent({ header: { epoch, term }, body }: Written): EntryContent | undefined {
  if (body.length === 0) return undefined;
  const text = inflateRawSync(body).toString();
  const end = text.indexOf("\n");
  const { report, begin, batch, alerts }: Header = JSON.parse(end < 0 ? text : text.slice(0, end));
  if (begin) {
    const { positions, observedAtMs, lists } = begin;
    const cursor = { epoch: toEpoch(epoch), seq: toSeq(begin.seq) };
    const bytes = Buffer.from(lists, "base64");
    return { report, update: { type: "begin", cursor, positions, observedAtMs, lists: bytes } };
  }
  if (alerts) return { report, alerts: readAlerts(alerts) };
  if (!batch) return { report };
  const run = toRun(term.toString(36));
  const records = readRecords(text.slice(end + 1)).map((record) => ({ ...record, run }));
  return { report, update: { type: "batch", records, observedAtMs: batch.observedAtMs } };
}

function alertsHeader(change: TaskChange | undefined): Pick<Header, "alerts"> {
  if (!change) return {};
  const text = change.kind === "content" ? change.text : Buffer.from(change.bytes).toString("base64");
  return { alerts: { kind: change.kind, text } };
}

function readAlerts({ kind, text }: NonNullable<Header["alerts"]>): TaskChange {
  return kind === "content" ? { kind, text } : { kind, bytes: Buffer.from(text, "base64") };
}

function headerOf(update: LogUpdate | undefined): Omit<Header, "report"> {
  if (update?.type === "batch") return { batch: { observedAtMs: update.observedAtMs } };
  if (update?.type !== "begin") return {};
  const { cursor, positions, observedAtMs, lists } = update;
  const base64 = Buffer.from(lists).toString("base64");
  return { begin: { seq: cursor.seq, positions, observedAtMs, lists: base64 } };
}

/** Returns records as lines: the fields of all on the first, then one event per line. */
export function recordsText(records: readonly LogRecord[]): string {
  const fields = records.map(({ seq, batch, emittedAtMs, name, channel, run }): RecordFields => {
    const own = [seq, batch, emittedAtMs, name, channel] as const;
    return run === undefined ? own : [...own, run];
  });
  return [JSON.stringify(fields), ...records.map(({ encoded }) => encoded.toString())].join("\n");
}

/** Reads the result of {@link recordsText}. Throws if it is malformed. */
export function readRecords(text: string): readonly LogRecord[] {
  const [first = "[]", ...bodies] = text.split("\n");
  const fields: readonly RecordFields[] = JSON.parse(first);
  return fields.map(([seq, batch, emittedAtMs, ...rest], index): LogRecord => {
    const name = EVENT_NAMES.find((known) => known === rest[0]);
    const channel = CHANNELS.find((known) => known === rest[1]);
    const encoded = bodies[index];
    if (!name || !channel || encoded === undefined) throw new Error(`event ${seq} is malformed`);
    const run = rest[2] === undefined ? {} : { run: toRun(rest[2]) };
    const at = { seq: toSeq(seq), batch: toSeq(batch), emittedAtMs };
    return { ...at, name, channel, encoded: Buffer.from(encoded), ...run };
  });
}
