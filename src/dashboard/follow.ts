import {
  type ConnectionStatus,
  connect,
  type DataFreshness,
  type Stream,
  type StreamEvent,
  type View,
} from "../client/index.ts";

/** Events that the feed shows at most. */
const MOST_EVENTS = 200;

/** Gaps that are named at most: a server that comes and goes for days must not fill the page. */
const MOST_GAPS = 20;

/** All that the page knows of the server at one moment. */
export interface Seen {
  /** Nothing but lists that one state of the server has; `undefined` before the first. */
  readonly view: View | undefined;
  readonly connection: ConnectionStatus;
  readonly freshness: DataFreshness | undefined;
  readonly cursor: string | undefined;
  /** The newest events, newest first. */
  readonly events: readonly StreamEvent[];
  /** Events that came since the page was opened. */
  readonly count: number;
  /** Why something was missed, and how much, since the page was opened; the last of them, newest last. */
  readonly gaps: readonly string[];
  /** The server's reason why it does not serve this page. */
  readonly refused: string | undefined;
}

/** Follows the server as long as the page is open, or until `stop`. */
export interface Following {
  readonly now: () => Seen;
  readonly stop: () => void;
}

/**
 * Follows the server at `url` with the key, if there is one. Calls `onChange` at most once per frame, however many events come: what is painted is
 * the newest state.
 */
export function follow(url: URL, key: string | undefined, onChange: () => void): Following {
  const stream: Stream = connect(url, key === undefined ? {} : { key });
  let events: readonly StreamEvent[] = [];
  let gaps: readonly string[] = [];
  let refused: string | undefined;
  let count = 0;
  let asked = 0;
  const changed = () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      onChange();
    });
  };
  stream.on("event", (event) => {
    count += 1;
    events = [event, ...events.slice(0, MOST_EVENTS - 1)];
    changed();
  });
  stream.on("reset", ({ reason, lost }) => {
    if (reason !== "started")
      gaps = [...gaps.slice(1 - MOST_GAPS), `${reason}: ${lost ?? "an unknown number of"} events`];
    changed();
  });
  stream.on("connection", changed);
  stream.on("error", ({ message }) => {
    refused = message;
    changed();
  });
  return {
    now: () => ({
      view: stream.view,
      connection: stream.connection,
      freshness: stream.freshness,
      cursor: stream.cursor,
      ...{ events, count, gaps, refused },
    }),
    stop: () => {
      cancelAnimationFrame(asked);
      stream.close();
    },
  };
}
