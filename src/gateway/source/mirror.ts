import type { Snapshot } from "../../base/model/index.ts";
import type {
  Cursor,
  EventBody,
  Freshness,
  Lists,
  MirrorBase,
  Run,
  SourceInfo,
} from "../../base/protocol/index.ts";

/** An event with its seq in the leader's log. */
export interface ReplicatedEvent {
  readonly seq: number;
  /** The seq of the last event in its batch. */
  readonly batch: number;
  readonly emittedAtMs: number;
  readonly run?: Run | undefined;
  readonly body: EventBody;
  /** The encoded body (`log/encode-tail.ts`), if it exists already. Frames do not have it. */
  readonly tail?: Buffer;
}

/** A state of the leader at which mirroring can start. */
export interface LeaderBase {
  readonly observedAtMs: number;
  readonly positions: MirrorBase["positions"];
  readonly lists: Lists;
}

/** A mirror's position: the end of a batch in the leader's log, and the state there. */
export interface MirrorPosition {
  readonly cursor: Cursor;
  readonly snapshot: Snapshot;
}

/** A complete batch of the leader, and the state after it. */
export interface LeaderBatch {
  readonly events: readonly ReplicatedEvent[];
  readonly snapshot: Snapshot;
  /** Event time of the data; `undefined` if the batch reports only the state of the source. */
  readonly observedAtMs: number | undefined;
}

/** Receives a leader's log. The caller does not await a call before it makes the next one. */
export interface ReplicaSink {
  readonly position: MirrorPosition | undefined;
  /** Starts over at `cursor` from the state `base`. */
  begin(cursor: Cursor, base: LeaderBase): Promise<void>;
  publish(batch: LeaderBatch): Promise<void>;
}

/** Another Flarewire whose log is mirrored. */
export interface Leader {
  /** The leader's description of its source. Before its first `hello`, all facts are false. */
  readonly info: SourceInfo;
  /** Whether the leader has confirmed the subscription of the current connection. */
  readonly isConnected: boolean;
  freshness(): Freshness;
  /** Mirrors the leader into `mirror`, reconnecting until the signal aborts; never rejects. */
  run(mirror: ReplicaSink, signal: AbortSignal): Promise<void>;
}
