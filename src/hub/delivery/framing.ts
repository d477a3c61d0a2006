/** One event on its way: `own`, `head` and `tail` together are its message as JSON text. */
export interface FramedEvent {
  /** The cursor behind it, as text; `undefined` for what moves none. */
  readonly cursor: string | undefined;
  /** What happened, or the message's type where it is not `event`. */
  readonly name: string;
  /** From the opening brace on what is for this shape alone: the type, and `prev`. ASCII. */
  readonly own: string;
  /** From the comma behind that to the comma before the tail. ASCII. */
  readonly head: string;
  /** The rest, UTF-8, shared by all readers. */
  readonly tail: Buffer;
  /** True where `head` and `tail` are those of all readers whom the event concerns; false where a filter made the tail. */
  readonly isCommon: boolean;
}

/**
 * How messages become bytes on a transport. It has no state that shows, so that sessions share the bytes: one frame serves all of a group.
 */
export interface Framing {
  /** Part of a group's key: sessions with equal names get equal bytes. */
  readonly name: string;
  /** What carries it, by the name in metrics. */
  readonly transport: string;
  /** The connection negotiated compression. */
  readonly isDeflated: boolean;
  /** One message, given as JSON text. With `snapshot`, JSON text that many get, it has that as its last field `snapshot`. */
  message(json: string, snapshot?: string): Buffer;
  /** Several events, in order, joined for one write. */
  events(events: readonly FramedEvent[]): Buffer;
}

/** The message's JSON text with its snapshot, if there is one. */
export function wholeText(json: string, snapshot: string | undefined): string {
  return snapshot === undefined ? json : `${json.slice(0, -1)},"snapshot":${snapshot}}`;
}
