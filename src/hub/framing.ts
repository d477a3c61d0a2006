/** One event on its way: `head` and `tail` together are its message as JSON text. */
export interface FramedEvent {
  /** The cursor behind it, as text; `undefined` for what moves none. */
  readonly cursor: string | undefined;
  /** What happened, or the message's type where it is not `event`. */
  readonly name: string;
  /** From the opening brace to the comma before the tail. ASCII. */
  readonly head: string;
  /** The rest, UTF-8, shared by all readers. */
  readonly tail: Buffer;
}

/**
 * How messages become bytes on a transport. Stateless, so that sessions share the bytes: one frame serves all of a group.
 */
export interface Framing {
  /** Part of a group's key: sessions with equal names get equal bytes. */
  readonly name: string;
  /** One message, given as JSON text. */
  message(json: string): Buffer;
  /** Several events, in order, joined for one write. */
  events(events: readonly FramedEvent[]): Buffer;
}
