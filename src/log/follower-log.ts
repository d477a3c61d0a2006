import type { FollowerLog, LogRecord, LogStart, ReplicaLog } from "./event-log.ts";
import { ForwardingLog } from "./forwarding-log.ts";

type Listener = (records: readonly LogRecord[]) => void;

/** Creates a log that is `first` until a restart replaces it with one from `open`. */
export function createFollowerLog(first: ReplicaLog, open: (start: LogStart) => ReplicaLog): FollowerLog {
  return new RestartingLog(first, open);
}

class RestartingLog extends ForwardingLog implements FollowerLog {
  readonly #open: (start: LogStart) => ReplicaLog;
  readonly #listeners = new Set<{ readonly call: Listener; stop: () => void }>();
  protected log: ReplicaLog;

  constructor(first: ReplicaLog, open: (start: LogStart) => ReplicaLog) {
    super();
    this.log = first;
    this.#open = open;
  }

  override onAppend(call: Listener): () => void {
    const listener = { call, stop: this.log.onAppend(call) };
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      listener.stop();
    };
  }

  async restart(start: LogStart): Promise<void> {
    // Do not close the previous log: the new one uses the same file.
    for (const listener of this.#listeners) listener.stop();
    this.log = this.#open(start);
    for (const listener of this.#listeners) listener.stop = this.log.onAppend(listener.call);
  }
}
