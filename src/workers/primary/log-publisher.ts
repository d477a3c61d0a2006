import type { Head, ListHistory } from "../../hub/index.ts";
import type { EventLog, LogRecord } from "../../log/index.ts";
import type { Lists } from "../../protocol/index.ts";
import type { FeedMessage, FillMessage } from "../messages.ts";
import { fillMessages } from "./log-snapshot.ts";

/** What is told to workers. */
export interface EventFeedParts {
  readonly log: EventLog;
  readonly head: Head;
  readonly history: ListHistory;
  /** Lists as bytes. */
  readonly format: (lists: Lists) => Uint8Array;
}

/** The primary's log as its workers are told of it: each batch once a worker, whole, in order. */
export class LogPublisher {
  readonly #parts: EventFeedParts;
  readonly #listeners = new Set<(message: FeedMessage) => void>();
  readonly #stop: () => void;
  #positions: Readonly<Record<string, number>>;
  #wasReady: boolean;

  /** The hub of the head has to be there before, so that the history is that of the head whenever this is told of it. */
  constructor(parts: EventFeedParts) {
    const { head, log } = parts;
    this.#parts = parts;
    this.#positions = { ...log.positions };
    this.#wasReady = head.ready;
    this.#stop = head.onChange((records) => this.#changed(records));
    head.onRestart(() => {
      this.#positions = { ...log.positions };
      this.#begin();
    });
  }

  /** All up to now, to be sent first; `listener` hears at once of what comes behind it. Returns also how to stop. */
  follow(listener: (message: FeedMessage) => void): {
    readonly fill: AsyncGenerator<FillMessage>;
    readonly stop: () => void;
  } {
    this.#listeners.add(listener);
    const fill = fillMessages({ ...this.#parts, positions: this.#positions });
    return { fill, stop: () => void this.#listeners.delete(listener) };
  }

  /** Tells nobody of anything more. */
  close(): void {
    this.#stop();
    this.#listeners.clear();
  }

  #changed(records: readonly LogRecord[]): void {
    const { head } = this.#parts;
    if (!this.#wasReady) {
      this.#begin();
      return;
    }
    const positions: Record<string, number> = { ...this.#positions };
    for (const { channel, seq } of records) positions[channel] = seq;
    this.#positions = positions;
    this.#tell(batchMessage(records, head));
  }

  #begin(): void {
    const { log, head, history, format } = this.#parts;
    // A change of the source's state may come before the first snapshot; the log has it then.
    this.#positions = { ...log.positions };
    this.#wasReady = head.ready;
    if (!head.ready) return;
    const { cursor, observedAtMs } = head;
    const lists = format(history.lists);
    this.#tell({ type: "begin", cursor, positions: this.#positions, observedAtMs, lists });
  }

  #tell(message: FeedMessage): void {
    for (const listener of this.#listeners) listener(message);
  }
}

function batchMessage(
  records: readonly LogRecord[],
  { cursor, observedAtMs }: Pick<Head, "cursor" | "observedAtMs">,
): FeedMessage {
  let end = 0;
  const ends = records.map(({ tail }) => {
    end += tail.length;
    return end;
  });
  return {
    type: "batch",
    first: records[0]?.seq ?? cursor.seq,
    run: records[0]?.run,
    emittedAtMs: records.map(({ emittedAtMs }) => emittedAtMs),
    tails: Buffer.concat(
      records.map(({ tail }) => tail),
      end,
    ),
    ...{ ends, observedAtMs },
  };
}
