import type { LogRecord } from "../../log/event-log.ts";
import type { Epoch, Seq } from "../../protocol/index.ts";
import type { StreamShape } from "../session/stream-shape.ts";
import { type EventFrames, FramePrefixes, frameEvents } from "./event-frames.ts";

/** Bytes of frames that are kept; above it the oldest go. */
const MAX_BYTES = 4 * 1_024 * 1_024;

interface Persistence {
  readonly frames: EventFrames;
  /** Seq of the last record that there was. */
  readonly last: Seq;
}

/**
 * Parts of the backlog as shapes are sent them, each made once for all who are at the same place (law L6): who lost the connection in one moment, as when a network or a server was away, comes back with one cursor,
 * and a thousand who are caught up from there cost one framing and a thousand writes.
 */
export class BacklogFrameCache {
  readonly #maxBytes: number;
  /** In the order in which they were made. */
  readonly #kept = new Map<string, Persistence>();
  #bytes = 0;

  /** `maxBytes`: see MAX_BYTES; 0 keeps nothing. */
  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * As `frameEvents` with `maxBytes`, for a shape that is not filtered and all records of the log behind `from.through`, as far as they were read.
   */
  frame(
    records: readonly LogRecord[],
    shape: StreamShape,
    from: { readonly epoch: Epoch; readonly prev: Seq; readonly through: Seq },
    maxBytes: number,
  ): EventFrames {
    const last = records.at(-1)?.seq ?? from.through;
    const key = `${from.epoch} ${from.through} ${from.prev} ${shape.key}`;
    const kept = this.#kept.get(key);
    // One that ended for its size is as it was, however much came behind.
    if (kept && (kept.last === last || (kept.frames.through < kept.last && kept.frames.through < last)))
      return kept.frames;
    const { epoch, ...place } = from;
    const frames = frameEvents(
      records,
      shape,
      { ...place, heads: new FramePrefixes(epoch) },
      undefined,
      maxBytes,
    );
    this.#keep(key, { frames, last });
    return frames;
  }

  /** Forgets all: in another history other events may stand in the same places. */
  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  #keep(key: string, kept: Persistence): void {
    this.#drop(key);
    this.#kept.set(key, kept);
    this.#bytes += sizeOf(key, kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    if (!kept) return;
    this.#kept.delete(key);
    this.#bytes -= sizeOf(key, kept);
  }
}

/** What does not belong to the shape costs its key all the same. */
function sizeOf(key: string, { frames }: Persistence): number {
  return key.length + (frames.bytes?.length ?? 0);
}
