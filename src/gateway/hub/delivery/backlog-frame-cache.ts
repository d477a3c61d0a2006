import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import type { Epoch, Seq } from "../../../base/protocol/index.ts";
import type { LogRecord } from "../../log/event-log.ts";
import { copyOutOfPool } from "../../log/event-log.ts";
import type { StreamShape } from "../session/stream-shape.ts";
import { type EventFrames, EventHeadCache, frameEvents } from "./event-frames.ts";

/** Size limit of the cached frames. */
const MAX_BYTES = 4 * 1_024 * 1_024;

interface CacheEntry {
  readonly frames: EventFrames;
  /**
   * Seq of the last record given. It is after `frames.through` if the frames ended at a size limit.
   */
  readonly last: Seq;
}

/**
 * Caches framed parts of the backlog (law L6 in src/README.md). A thousand clients that resume from
 * the same cursor after an outage cost one framing.
 */
export class BacklogFrameCache {
  readonly #entries: BoundedMap<string, CacheEntry>;

  /** @param maxBytes Default: {@link MAX_BYTES}; 0 disables the cache. */
  constructor(maxBytes: number = MAX_BYTES) {
    // Count the key too: an entry without frames still stores its key.
    this.#entries = new BoundedMap(maxBytes, ({ frames }, key) => key.length + (frames.bytes?.length ?? 0));
  }

  /**
   * Like `frameEvents`. The shape must be unfiltered, `records` must follow `from.through` without
   * gaps, and `maxBytes` must be the same in all calls.
   */
  frame(
    records: readonly LogRecord[],
    shape: StreamShape,
    from: { readonly epoch: Epoch; readonly prev: Seq; readonly through: Seq },
    maxBytes: number,
  ): EventFrames {
    const last = records.at(-1)?.seq ?? from.through;
    const key = `${from.epoch} ${from.through} ${from.prev} ${shape.key}`;
    const entry = this.#entries.get(key);
    // A part that ended at its size limit stays valid: later records do not belong to it.
    if (entry && (entry.last === last || (entry.frames.through < entry.last && entry.frames.through < last)))
      return entry.frames;
    const position = { ...from, heads: new EventHeadCache(from.epoch) };
    const fresh = frameEvents(records, shape, position, undefined, maxBytes);
    const frames = fresh.bytes ? { ...fresh, bytes: copyOutOfPool(fresh.bytes) } : fresh;
    this.#entries.set(key, { frames, last });
    return frames;
  }

  /**
   * Clears the cache. Call it when the log starts over: the same seqs may then have other events.
   */
  clear(): void {
    this.#entries.clear();
  }
}
