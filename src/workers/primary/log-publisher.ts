import type { Lists } from "../../base/protocol/index.ts";
import type { Head, ListHistory } from "../../gateway/hub/index.ts";
import type { EventLog, LogRecord } from "../../gateway/log/index.ts";
import type { LogUpdate } from "../messages.ts";
import { snapshotMessages } from "./log-snapshot.ts";

export interface LogPublisherParts {
  readonly log: EventLog;
  readonly head: Head;
  readonly history: ListHistory;
  readonly encode: (lists: Lists) => Uint8Array;
}

/** Publishes the log to workers: each worker gets every batch once, complete and in order. */
export class LogPublisher {
  readonly #parts: LogPublisherParts;
  readonly #listeners = new Set<(message: LogUpdate) => void>();
  readonly #stop: () => void;
  #positions: Readonly<Record<string, number>>;
  #wasReady: boolean;

  /** Create it after the head's hub, so that a change reaches the hub's history first. */
  constructor(parts: LogPublisherParts) {
    const { head, log } = parts;
    this.#parts = parts;
    this.#positions = { ...log.positions };
    this.#wasReady = head.ready;
    this.#stop = head.onChange((records) => this.#changed(records));
    head.onRestart(() => this.#begin());
  }

  /** Returns messages that bring a worker up to date. `listener` receives all later changes. */
  follow(listener: (message: LogUpdate) => void) {
    this.#listeners.add(listener);
    const snapshot = snapshotMessages({ ...this.#parts, positions: this.#positions });
    return { snapshot, stop: (): void => void this.#listeners.delete(listener) };
  }

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
    this.#send({ type: "batch", records, observedAtMs: head.observedAtMs });
  }

  #begin(): void {
    const { log, head, history, encode } = this.#parts;
    // Before the first snapshot, the log may already have events about the source.
    this.#positions = { ...log.positions };
    this.#wasReady = head.ready;
    if (!head.ready) return;
    const { cursor, observedAtMs } = head;
    const lists = encode(history.lists);
    this.#send({ type: "begin", cursor, positions: this.#positions, observedAtMs, lists });
  }

  #send(message: LogUpdate): void {
    for (const listener of this.#listeners) listener(message);
  }
}
