/** An event to send. `own`, `head` and `encoded` joined are its message as JSON text. */
export interface FramedEvent {
  /** The cursor after the event, as text; `undefined` if the client's cursor does not move. */
  readonly cursor: string | undefined;
  /** The event's name; the message type if that is not `event`. */
  readonly name: string;
  /** The part specific to the shape, starting at the opening brace: the type and `prev`. ASCII. */
  readonly own: string;
  /** The next part, from its leading comma to the comma before the body. ASCII. */
  readonly head: string;
  /** The rest, in UTF-8. */
  readonly encoded: Buffer;
  /** Whether `head` and `encoded` are the same for all readers; false if a filter made the body. */
  readonly isCommon: boolean;
}

/** Converts messages to bytes for a transport. One frame can serve an entire group. */
export interface Framing {
  /**
   * Part of a group's key: sessions of a group have the same framing, so they get the same bytes.
   */
  readonly name: string;
  /** The transport's name in metrics. */
  readonly transport: string;
  readonly isDeflated: boolean;
  /** Frames a message. Appends the shared JSON text `snapshot` as its last field. */
  message(json: string, snapshot?: string): Buffer;
  /** Frames several events, in order, for one write. */
  events(events: readonly FramedEvent[]): Buffer;
}

/** Appends the snapshot, if any, to the message's JSON text. */
export function withSnapshot(json: string, snapshot: string | undefined): string {
  return snapshot === undefined ? json : `${json.slice(0, -1)},"snapshot":${snapshot}}`;
}
