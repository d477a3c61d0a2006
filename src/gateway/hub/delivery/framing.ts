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
  message(json: string): Buffer;
  /**
   * Frames a message to which the lists are added as its last field. The second part is the same
   * Buffer for all clients. `end`: JSON text of the lists and the message's closing brace.
   */
  withLists(json: string, end: Buffer): readonly [opening: Buffer, shared: Buffer];
  /** Frames several events, in order, for one write. */
  events(events: readonly FramedEvent[]): Buffer;
}

/** Returns the message's JSON text up to its lists. */
export function beforeLists(json: string): string {
  return `${json.slice(0, -1)},"snapshot":`;
}
