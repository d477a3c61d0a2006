import type { Seq } from "../../protocol/index.ts";
import type { ChannelMask } from "../channel-mask.ts";
import type { Group } from "../group.ts";
import type { ListWalk } from "../lists/list-walk.ts";
import type { StreamShape } from "../session/stream-shape.ts";

/** Everything up to the head was written: the group does the rest, and there is no cursor but the head's. */
export interface Live {
  readonly kind: "live";
  readonly group: Group;
}

/** There is a cursor of its own, from which it is caught up out of the log whenever the socket has room. */
export interface Behind {
  readonly kind: "behind";
  readonly shape: StreamShape;
  /** The lists at `seq`; there when the shape is filtered. */
  walk: ListWalk | undefined;
  /** Everything of the shape up to here was written. */
  seq: Seq;
  /** Channels on which something was left out that the lists at the head will say; `undefined`: nothing is left out. */
  conflating: ChannelMask | undefined;
  /** What the client holds of the shape for certain, once it has read what was written. */
  prev: Seq;
  /** The socket is full; `drained` will come. */
  full: boolean;
  /** The log is being read. */
  reading: boolean;
  /** When the peer last took something, as far as was seen. */
  progressAtMs: number;
  progress: number;
}

/** Nothing goes out any more. */
export interface Ended {
  readonly kind: "ended";
}

/** Where a delivery stands. */
export type DeliveryState = Live | Behind | Ended;
