/** A node's copy of the state of work that only one node of a cluster does. */
export interface TaskCopy {
  /** Returns the whole state, to store it or to open another copy from it. */
  content(): string;
  /** Returns what changed since the last call; `undefined` if nothing did. */
  changes(): Uint8Array | undefined;
  /** Applies the changes of another copy. */
  apply(changes: Uint8Array): void;
  close(): void;
}

/** Opens a copy from the content of another one. Default: a new, empty one. */
export type OpenCopy<C extends TaskCopy = TaskCopy> = (content?: string) => C;

/** Work that the leader of a cluster does on its copy of the state. */
export interface SharedTask<C extends TaskCopy> {
  readonly openCopy: OpenCopy<C>;
  /**
   * Starts the work. Each effect outside of the cluster, such as sending a message, first awaits
   * `beforeEffect`, which resolves once the cluster's log has all changes of the copy.
   */
  start(copy: C, beforeEffect: () => Promise<void>): RunningTask;
}

export interface RunningTask {
  stop(): Promise<void>;
}

/** Runs work on whichever node leads. */
export interface SharedTasks {
  /** Runs the task while this node leads, until the result is stopped. Call it once. */
  run<C extends TaskCopy>(task: SharedTask<C>): RunningTask;
}
