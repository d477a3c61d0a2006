import type { Cursor, EventBody, Lost, Seq } from "../protocol/index.ts";
import type { LastingResult, LogRecord, ReadResult, ReplicaLog } from "./event-log.ts";

/** Forwards every call to another log. */
export abstract class ForwardingLog implements ReplicaLog {
  protected abstract log: ReplicaLog;

  get epoch() {
    return this.log.epoch;
  }

  get head() {
    return this.log.head;
  }

  get oldest() {
    return this.log.oldest;
  }

  get oldestLasting() {
    return this.log.oldestLasting;
  }

  get runs() {
    return this.log.runs;
  }

  get positions() {
    return this.log.positions;
  }

  get bytes() {
    return this.log.bytes;
  }

  cursorAt(seq: Seq): Cursor {
    return this.log.cursorAt(seq);
  }

  strayed(cursor: Cursor): Lost | undefined {
    return this.log.strayed(cursor);
  }

  append(events: readonly EventBody[]): Promise<readonly LogRecord[]> {
    return this.log.append(events);
  }

  appendReplicated(records: readonly LogRecord[]): Promise<readonly LogRecord[]> {
    return this.log.appendReplicated(records);
  }

  read(after: Cursor, limit: number): Promise<ReadResult> {
    return this.log.read(after, limit);
  }

  readLasting(after: Cursor, limit: number): Promise<LastingResult> {
    return this.log.readLasting(after, limit);
  }

  onAppend(listener: (records: readonly LogRecord[]) => void): () => void {
    return this.log.onAppend(listener);
  }

  close(): Promise<void> {
    return this.log.close();
  }
}
