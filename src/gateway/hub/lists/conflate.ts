import {
  type Channel,
  type Conflated,
  type Cursor,
  FLARE_CHANNELS,
  formatCursor,
  LASTING_EVENTS,
  type Seq,
} from "../../../base/protocol/index.ts";
import type { LogRecord } from "../../log/event-log.ts";
import { bitOf, type ChannelMask, maskOf } from "../channel-mask.ts";
import type { FramedEvent } from "../delivery/framing.ts";
import type { StreamShape } from "../session/stream-shape.ts";
import type { Steps } from "./list-walk.ts";

const FLARES = maskOf(FLARE_CHANNELS);

/**
 * The lasting events of a skipped part of a backlog. They are sent even though the lists at the
 * head follow.
 */
interface MissedFrames {
  /** `undefined` if there is nothing to send. */
  readonly bytes: Buffer | undefined;
  /** Channels on which the examined records have events of the shape. */
  readonly mask: ChannelMask;
  /** Seq of the last record examined. */
  readonly through: Seq;
}

/** Frames the shape's lasting events as `missed` messages; bounds as in `frameEvents`. */
export function frameMissed(
  records: readonly LogRecord[],
  shape: StreamShape,
  from: { readonly through: Seq },
  steps: Steps | undefined,
  maxBytes: number,
): MissedFrames {
  const framed: FramedEvent[] = [];
  let { through } = from;
  let bytes = 0;
  let mask = 0n;
  for (const record of records) {
    if (bytes >= maxBytes) break;
    through = record.seq;
    const event = shape.select(record, steps?.next(record));
    if (!event) continue;
    mask |= bitOf(record.channel);
    if (!LASTING_EVENTS.has(event.name)) continue;
    const emittedAt = new Date(record.emittedAtMs).toISOString();
    const own = '{"type":"missed"';
    const head = `,"seq":${record.seq},"emitted_at":"${emittedAt}",`;
    const { encoded } = event;
    const isCommon = encoded === record.encoded;
    framed.push({ cursor: undefined, name: "missed", own, head, encoded, isCommon });
    bytes += own.length + head.length + encoded.length;
  }
  return { bytes: framed.length > 0 ? shape.framing.events(framed) : undefined, mask, through };
}

/**
 * Selects the lists to send. If one flare channel changed, selects all followed flare channels,
 * because they share explanations.
 */
export function conflatedMask(happened: ChannelMask, followed: ChannelMask): ChannelMask {
  return happened & FLARES ? happened | (followed & FLARES) : happened;
}

/** Formats a `conflated` message without its `snapshot`: the new state of these channels. */
export function conflatedText(cursor: Cursor, channels: readonly Channel[]): string {
  const message: Omit<Conflated, "snapshot"> = {
    type: "conflated",
    cursor: formatCursor(cursor),
    channels: [...channels],
  };
  return JSON.stringify(message);
}
