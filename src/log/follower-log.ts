import type { Cursor, EventBody, Lost, Seq } from "../protocol/index.ts";
import type { FollowerLog, LastingResult, LogRecord, LogStart, ReadResult, ReplicaLog } from "./event-log.ts";

type Listener = (records: readonly LogRecord[]) => void;

/** Creates a log that restarts by replacing itself with one from `open`. `first`: until then. */
export function createFollowerLog(first: ReplicaLog, open: (start: LogStart) => ReplicaLog): FollowerLog {
  return new RestartingLog(first, open);
}

class RestartingLog implements FollowerLog {
  readonly #open: (start: LogStart) => ReplicaLog;
  readonly #listeners = new Set<{ readonly call: Listener; stop: () => void }>();
  #log: ReplicaLog;

  constructor(first: ReplicaLog, open: (start: LogStart) => ReplicaLog) {
    this.#log = first;
    this.#open = open;
  }

  get epoch() {
    return this.#log.epoch;
  }

  get head() {
    return this.#log.head;
  }

  get oldest() {
    return this.#log.oldest;
  }

  get oldestLasting() {
    return this.#log.oldestLasting;
  }

  get runs() {
    return this.#log.runs;
  }

  cursorAt(seq: Seq): Cursor {
    return this.#log.cursorAt(seq);
  }

  strayed(cursor: Cursor): Lost | undefined {
    return this.#log.strayed(cursor);
  }

  get positions() {
    return this.#log.positions;
  }

  get bytes() {
    return this.#log.bytes;
  }

  append(events: readonly EventBody[]): Promise<readonly LogRecord[]> {
    return this.#log.append(events);
  }

  appendReplicated(records: readonly LogRecord[]): Promise<readonly LogRecord[]> {
    return this.#log.appendReplicated(records);
  }

  read(after: Cursor, limit: number): Promise<ReadResult> {
    return this.#log.read(after, limit);
  }

  readLasting(after: Cursor, limit: number): Promise<LastingResult> {
    return this.#log.readLasting(after, limit);
  }

  onAppend(call: Listener): () => void {
    const listener = { call, stop: this.#log.onAppend(call) };
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      listener.stop();
    };
  }

  async restart(start: LogStart): Promise<void> {
    // Do not close the previous log: the new one uses the same file.
    for (const listener of this.#listeners) listener.stop();
    this.#log = this.#open(start);
    for (const listener of this.#listeners) listener.stop = this.#log.onAppend(listener.call);
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}
