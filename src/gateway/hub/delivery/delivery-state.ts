import type { Seq } from "../../../base/protocol/index.ts";
import type { ChannelMask } from "../channel-mask.ts";
import type { Group } from "../group.ts";
import type { ListWalk } from "../lists/list-walk.ts";
import type { StreamShape } from "../session/stream-shape.ts";

/** The client has everything up to the head. Its group sends the rest. */
export interface Live {
  readonly kind: "live";
  readonly group: Group;
}

/** The client has a cursor of its own and catches up from the log whenever its socket has room. */
export interface Behind {
  readonly kind: "behind";
  readonly shape: StreamShape;
  /** The lists at `seq`, for a filtered shape, once they have been read. */
  walk: ListWalk | undefined;
  /** Every event of the shape up to here was written or skipped. */
  seq: Seq;
  /**
   * Channels with skipped events, which the lists at the head will replace. `undefined` if no
   * events are being skipped.
   */
  conflating: ChannelMask | undefined;
  /** Seq to send as `prev` with the next event. */
  prev: Seq;
  /** The socket is full, and a `drained` call will follow. */
  full: boolean;
  reading: boolean;
  /** When the socket was last seen to make progress, or became full. */
  progressAtMs: number;
  /** `Socket.progress` at that time. */
  progress: number;
}

interface Ended {
  readonly kind: "ended";
}

export type DeliveryState = Live | Behind | Ended;
