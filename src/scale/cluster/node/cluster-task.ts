import type { Clock } from "../../../base/lib/time/clock.ts";
import type {
  OpenCopy,
  RunningTask,
  SharedTask,
  SharedTasks,
  TaskCopy,
} from "../../../gateway/start/index.ts";

/** A change to the task's state, as stored in an entry of the cluster's log. */
export type TaskChange =
  | { readonly kind: "changes"; readonly bytes: Uint8Array }
  /** Replaces everything. */
  | { readonly kind: "content"; readonly text: string };

/** Appends to the cluster's log. Resolves once this node has delivered the change. */
type AppendChange = (change: TaskChange) => Promise<void>;

/**
 * How often the leader's changes are written to the cluster's log. An effect is repeated only if
 * the leader dies before its record is written.
 */
const COMMIT_MS = 100;

/** The copy of a program without a task. */
const NO_COPY: TaskCopy = {
  content: () => "{}",
  changes: () => undefined,
  apply: () => {},
  close: () => {},
};

/**
 * The work of a cluster's leader, such as sending alerts. Every node has the same copy of its
 * state, from the cluster's log. Only the leader works. It changes a second copy, and has an effect
 * only once the log has the changes. So the next leader continues where the last one stopped, and
 * repeats only effects whose record is not in the log yet.
 */
export class ClusterTask implements SharedTasks {
  readonly #clock: Clock;
  readonly #openCopy: OpenCopy;
  #shared: TaskCopy;
  /** Starts the task on a copy of the state. */
  #start: ((append: AppendChange, isNewEpoch: boolean) => RunningTask) | undefined;
  #append: AppendChange | undefined;
  #run: RunningTask | undefined;
  #isNewEpoch = false;
  #stopped: Promise<void> = Promise.resolve();

  /** @param openCopy Opens a node's copy. Default: there is no task. */
  constructor(clock: Clock, openCopy: OpenCopy = () => NO_COPY) {
    this.#clock = clock;
    this.#openCopy = openCopy;
    this.#shared = openCopy();
  }

  /** The whole state, for {@link restore} on a node that starts. */
  get content(): string {
    return this.#shared.content();
  }

  /** Continues with the state that a leader stored; `undefined`: none. */
  restore(content: string | undefined): void {
    this.#shared.close();
    this.#shared = this.#openCopy(content);
  }

  /** Applies a change from the cluster's log. */
  deliver(change: TaskChange): void {
    if (change.kind === "content") this.restore(change.text);
    else this.#shared.apply(change.bytes);
  }

  run<C extends TaskCopy>(task: SharedTask<C>): RunningTask {
    this.#start = (append, isNewEpoch) => {
      const copy = task.openCopy(this.#shared.content());
      return new TaskRun(task, copy, append, isNewEpoch, this.#clock);
    };
    this.#begin();
    return {
      stop: async () => {
        this.#start = undefined;
        this.follow();
        await this.#stopped;
      },
    };
  }

  /**
   * Call it when this node starts to lead. In a new epoch, other nodes' copies may differ, so the
   * first change replaces them.
   */
  lead(append: AppendChange, isNewEpoch: boolean): void {
    this.follow();
    this.#append = append;
    this.#isNewEpoch = isNewEpoch;
    this.#begin();
  }

  /** Call it when this node stops leading. The next leader continues the task. */
  follow(): void {
    this.#append = undefined;
    const run = this.#run;
    this.#run = undefined;
    if (run) this.#stopped = Promise.all([this.#stopped, run.stop()]).then(() => {});
    // `stop` reports a failure.
    this.#stopped.catch(() => {});
  }

  #begin(): void {
    if (this.#start && this.#append) this.#run = this.#start(this.#append, this.#isNewEpoch);
  }
}

class TaskRun<C extends TaskCopy> implements RunningTask {
  readonly #task: RunningTask;
  readonly #copy: C;
  readonly #append: AppendChange;
  readonly #stopCommits: () => void;
  /** Whether other copies may lack changes of this one. */
  #isAhead: boolean;
  #committed: Promise<void> = Promise.resolve();

  constructor(task: SharedTask<C>, copy: C, append: AppendChange, isAhead: boolean, clock: Clock) {
    this.#copy = copy;
    this.#append = append;
    this.#isAhead = isAhead;
    this.#task = task.start(copy, () =>
      this.#commit().catch((cause: unknown) => {
        throw new Error("the cluster's log did not accept the message", { cause });
      }),
    );
    // The next commit includes the changes of a failed one.
    this.#stopCommits = clock.every(COMMIT_MS, () => void this.#commit().catch(() => {}));
  }

  stop(): Promise<void> {
    this.#stopCommits();
    return this.#task.stop();
  }

  /** Resolves when the cluster's log has all changes of this copy. */
  #commit(): Promise<void> {
    const work = this.#committed.then(() => this.#commitNow());
    this.#committed = work.catch(() => {});
    return work;
  }

  async #commitNow(): Promise<void> {
    const bytes = this.#copy.changes();
    if (!bytes && !this.#isAhead) return;
    const change: TaskChange =
      bytes && !this.#isAhead ? { kind: "changes", bytes } : { kind: "content", text: this.#copy.content() };
    this.#isAhead = true;
    await this.#append(change);
    this.#isAhead = false;
  }
}
