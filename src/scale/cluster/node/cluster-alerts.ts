import type { Clock } from "../../../base/lib/time/clock.ts";
import {
  type AlertCopy,
  type AlertStore,
  type Alerts,
  openAlertCopy,
} from "../../../extensions/alerts/index.ts";

/** A change to the alerts, as stored in an entry of the cluster's log. */
export type AlertChange =
  | { readonly kind: "changes"; readonly bytes: Uint8Array }
  /** Replaces everything. */
  | { readonly kind: "content"; readonly text: string };

/**
 * Starts the rules and the delivery on this store. Each attempt to send first awaits
 * `beforeAttempt`.
 */
type StartAlerts = (store: AlertStore, beforeAttempt: () => Promise<void>) => Alerts;

/** Appends to the cluster's log. Resolves once this node has delivered the change. */
type AppendAlerts = (change: AlertChange) => Promise<void>;

/**
 * How often the leader's changes are written to the cluster's log. An accepted message is sent
 * again only if the leader dies before its acceptance is written.
 */
const COMMIT_MS = 100;

/**
 * The alerts of a cluster. Every node has the same copy of the rules' positions and the undelivered
 * messages, from the cluster's log. Only the leader follows the rules and sends messages. It works
 * on a second copy, and sends a message only once the log has it. So the next leader continues
 * where the last one stopped, and repeats only messages whose acceptance is not in the log yet.
 */
export class ClusterAlerts {
  readonly #clock: Clock;
  #shared = openAlertCopy();
  #start: StartAlerts | undefined;
  #append: AppendAlerts | undefined;
  #run: AlertRun | undefined;
  #isNewEpoch = false;
  #stopped: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The whole content, for {@link restore} on a node that starts. */
  get content(): string {
    return this.#shared.content();
  }

  /** Continues with the content that a leader stored; `undefined`: none. */
  restore(content: string | undefined): void {
    this.#shared.store.close();
    this.#shared = openAlertCopy(content);
  }

  /** Applies a change from the cluster's log. */
  deliver(change: AlertChange): void {
    if (change.kind === "content") this.restore(change.text);
    else this.#shared.apply(change.bytes);
  }

  /** Call it when the gateway is ready. Sends alerts while this node leads. */
  start(start: StartAlerts): Alerts {
    this.#start = start;
    this.#begin();
    return {
      stats: () => this.#run?.alerts.stats() ?? {},
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
  lead(append: AppendAlerts, isNewEpoch: boolean): void {
    this.follow();
    this.#append = append;
    this.#isNewEpoch = isNewEpoch;
    this.#begin();
  }

  /** Call it when this node stops leading. The next leader sends the undelivered messages. */
  follow(): void {
    this.#append = undefined;
    const run = this.#run;
    this.#run = undefined;
    if (run) this.#stopped = Promise.all([this.#stopped, run.stop()]).then(() => {});
    // `stop` reports a failure.
    this.#stopped.catch(() => {});
  }

  #begin(): void {
    if (!this.#start || !this.#append) return;
    const copy = openAlertCopy(this.#shared.content());
    this.#run = new AlertRun(copy, this.#start, this.#append, this.#isNewEpoch, this.#clock);
  }
}

/** The alerts of one leader. */
class AlertRun {
  readonly alerts: Alerts;
  readonly #copy: AlertCopy;
  readonly #append: AppendAlerts;
  readonly #stopCommits: () => void;
  /** Whether other copies may lack changes of this one. */
  #isAhead: boolean;
  #committed: Promise<void> = Promise.resolve();

  constructor(copy: AlertCopy, start: StartAlerts, append: AppendAlerts, isAhead: boolean, clock: Clock) {
    this.#copy = copy;
    this.#append = append;
    this.#isAhead = isAhead;
    this.alerts = start(copy.store, () =>
      this.#commit().catch((cause: unknown) => {
        throw new Error("the cluster's log did not accept the message", { cause });
      }),
    );
    // The next commit includes the changes of a failed one.
    this.#stopCommits = clock.every(COMMIT_MS, () => void this.#commit().catch(() => {}));
  }

  stop(): Promise<void> {
    this.#stopCommits();
    return this.alerts.stop();
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
    const change: AlertChange =
      bytes && !this.#isAhead ? { kind: "changes", bytes } : { kind: "content", text: this.#copy.content() };
    this.#isAhead = true;
    await this.#append(change);
    this.#isAhead = false;
  }
}
