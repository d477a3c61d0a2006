import type { Logger } from "pino";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import type { Freshness, SourceInfo } from "../../../base/protocol/index.ts";
import type { Follower, FollowerRun } from "../../../gateway/source/index.ts";
import type { MarketOpener } from "../../../gateway/start/index.ts";
import { createReplicaSink, type ReplicaSink } from "../../follow/index.ts";
import type { ClusterState } from "../cluster-metrics.ts";
import { ClusterNode, type Lead } from "../cluster-node.ts";
import type { Engine } from "../engine.ts";
import { type Entry, LOG_START, type MemberStart, type Position } from "../entry.ts";
import type { ClusterTask } from "./cluster-task.ts";
import { decodeContent, encodeContent } from "./entry-body.ts";
import { Leading, UNKNOWN } from "./leading.ts";
import { LogFollower } from "./log-follower.ts";
import type { SharedMarket } from "./shared-market.ts";
import { loadUsableNode, type NodeState } from "./stored-node.ts";

interface ClusterSourceOptions {
  readonly staleAfterMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly engine: Engine;
  readonly task: ClusterTask;
  /** The position of this node's own state; `undefined` if it has none. */
  readonly start: MemberStart | undefined;
  /** The market, which this node opens when it leads. */
  readonly market: MarketOpener;
  /** The market of all nodes. */
  readonly common: Pick<SharedMarket, "check">;
  /** Why the servers reject entries; empty if they accept them or do not answer. */
  readonly refusal: () => string;
  /** The command that removes the log. */
  readonly removal: string;
}

/** What the node's gateway provides. */
interface ClusterRun extends Omit<NodeState, "task">, Pick<FollowerRun, "onPoll"> {
  /** Writes into the gateway's log. */
  readonly sink: ReplicaSink;
}

/** Silence of the engine after which the data count as stale, if `staleAfterMs` is not shorter. */
const ENGINE_SILENCE_MS = 10_000;

const NOBODY = {
  info: UNKNOWN,
  freshness: {
    state: "stale",
    reason: "no node of the cluster leads yet",
    observed_at: null,
    last_success_at: null,
    data_age_ms: 0,
  },
} as const;

/** The log of a cluster, as this node's source. The node leads when it is elected. */
export class ClusterSource implements Follower {
  readonly #options: ClusterSourceOptions;
  readonly #follower: LogFollower;
  #node: ClusterNode | undefined;
  #leading: Leading | undefined;
  #stopped: Promise<void> = Promise.resolve();
  #applied: Promise<void> = Promise.resolve();
  #epochs = 0;
  #repairs = 0;
  /** Offset of the last entry that this node repaired. */
  #repaired = 0;
  /** The stored position from which this node has continued last. */
  #loaded = LOG_START;
  /** Why the stored state was unusable, as last logged. */
  #unusable: string | undefined;
  /** Why this node has left the cluster's log. */
  #problem: string | undefined;
  /** Why this node cannot read the cluster's log now. */
  #unreadable: string | undefined;
  /** The last delivered entry, with the seq of its epoch's last event so far. */
  #at: { readonly position: Position; readonly epoch: string; readonly seq: number } | undefined;

  constructor(options: ClusterSourceOptions) {
    this.#options = options;
    const { clock, staleAfterMs } = options;
    this.#follower = new LogFollower(clock, staleAfterMs, NOBODY);
  }

  get info(): SourceInfo {
    return this.#leading?.opened?.source.info ?? this.#follower.info;
  }

  /** Whether the servers answered recently. Otherwise this node's log may lag. */
  get isConnected(): boolean {
    const limitMs = Math.min(ENGINE_SILENCE_MS, this.#options.staleAfterMs);
    return (this.#node?.engineSilenceMs ?? 0) <= limitMs;
  }

  /** Whether this node has caught up with the log once, and has not left it since. */
  get hasCaughtUp(): boolean {
    return (this.#problem ?? this.#unreadable) === undefined && (this.#node?.hasCaughtUp ?? false);
  }

  /** Whether the cluster may have events that this node has not read. */
  get mayLackEvents(): boolean {
    return !(this.isConnected && this.hasCaughtUp);
  }

  /** This node's part in the cluster, for its metrics. */
  get state(): ClusterState {
    const { member, engineSilenceMs = 0 } = this.#node ?? {};
    const { role, term = 0, delivered, isForked = false } = member ?? {};
    const entries = delivered?.offset ?? 0;
    const log = { entries, repairs: this.#repairs, epochs: this.#epochs, isForked };
    const isRejected = this.#options.refusal() !== "";
    return { isLeading: role === "leader", term, ...log, silenceMs: engineSilenceMs, isRejected };
  }

  /** The source of the market while this node leads. */
  get opened() {
    return this.#leading?.opened;
  }

  freshness(): Freshness {
    const fresh = this.#leading?.opened?.source.freshness() ?? this.#follower.freshness();
    const problem = this.#problem ?? this.#unreadable;
    if (problem !== undefined) return { ...fresh, state: "down", reason: problem };
    const own = withReason(fresh, this.isConnected ? this.#options.refusal() : "");
    if (own.state === "down" || !this.mayLackEvents) return own;
    const reason = this.isConnected
      ? "this node is still reading the cluster's log"
      : "the cluster's servers do not answer";
    return { ...withReason(own, reason), state: "stale" };
  }

  /** Takes part in the cluster until the signal aborts. Never rejects. */
  async run(given: FollowerRun, signal: AbortSignal): Promise<void> {
    const { engine, clock, start, logger } = this.#options;
    const run: ClusterRun = { ...given, sink: createReplicaSink(given) };
    if (start) this.#at = { ...start, seq: run.head.cursor.seq };
    this.#loaded = start?.position ?? LOG_START;
    const followed = this.#follower.run(this.#watched(run.sink), signal);
    const node = new ClusterNode({
      engine,
      clock,
      start,
      report: () => encodeContent({ report: { info: this.info, freshness: this.freshness() } }),
      onDeliver: (entries) => {
        try {
          for (const entry of entries) this.#deliver(entry);
        } catch (error) {
          logger.error({ err: error }, "cannot read the cluster's log; update this node");
          this.#leave(`cannot read the cluster's log: ${messageOf(error)}`);
        }
      },
      onRepair: (entry) => this.#noteRepair(entry),
      onLead: (lead) => {
        const { term, epoch } = lead;
        logger.info({ node: node.id, term, epoch }, "leading the cluster");
        if (this.#leading?.begin(lead)) return;
        this.#follow();
        this.#leading = this.#startLeading(node, run, lead);
      },
      onFollow: () => {
        logger.warn({ node: node.id }, "no longer leading the cluster");
        this.#follow();
      },
      onReload: () => this.#reload(run, signal),
      onUnreadable: (error) => this.#noteReadable(error),
    });
    this.#node = node;
    const unsubscribe = engine.onNotice(({ kind }) => {
      if (kind === "store") this.#leading?.storeSoon();
    });
    await followed;
    unsubscribe();
    this.#follow();
    await this.#stopped;
    await node.stop();
    // The log is closed next. A failure has been reported already.
    await this.#applied.catch(() => {});
  }

  #follow(): void {
    const leading = this.#leading;
    this.#leading = undefined;
    if (leading) this.#stopped = leading.stop();
  }

  #startLeading(node: ClusterNode, run: ClusterRun, lead: Lead): Leading {
    const { clock, logger, engine, market, task, common } = this.#options;
    const dependencies = {
      clock,
      logger,
      engine,
      node,
      market,
      common,
      task,
      onPoll: run.onPoll,
      state: { ...run, task },
      applied: () => this.#applied,
      standing: () => this.#standing(run, node.member.term),
      freshness: () => this.freshness(),
      onFailure: (error: unknown) => {
        logger.error({ err: error, node: node.id }, "the source failed; handing over the lead");
        void node.resign();
      },
    };
    return new Leading(dependencies, lead, this.#stopped);
  }

  /** Tracks when the gateway's log has stored each update. Leaves the cluster if that fails. */
  #watched(sink: ReplicaSink): ReplicaSink {
    const note = (work: Promise<void>) => {
      this.#applied = work;
      return work.catch((error: unknown) => {
        this.#options.logger.error({ err: error }, "cannot apply the cluster's log; restart this node");
        this.#leave(`cannot apply the cluster's log: ${messageOf(error)}`);
      });
    };
    return {
      position: sink.position,
      begin: (cursor, base) => note(sink.begin(cursor, base)),
      publish: (batch) => note(sink.publish(batch)),
    };
  }

  #deliver(entry: Entry): void {
    const { offset, hash } = entry;
    const { epoch } = entry.header;
    this.#noteEpoch(epoch);
    const content = decodeContent(entry);
    const before = this.#at?.epoch === epoch ? this.#at.seq : -1;
    const update = content?.update;
    const seq = update?.type === "batch" ? update.records.at(-1)?.seq : update?.cursor.seq;
    this.#at = { position: { offset, hash }, epoch, seq: seq ?? before };
    if (content) this.#follower.report(content.report);
    if (content?.alerts) this.#options.task.deliver(content.alerts);
    if (update) this.#follower.apply(update);
  }

  /** Reports an entry that this node cannot read: a later version may have written it. */
  #noteReadable(error: unknown): void {
    const { logger, removal } = this.#options;
    const cure = `update this node; or, if another program wrote to the log, run ${removal}`;
    const problem =
      error === undefined ? undefined : `cannot read the cluster's log: ${messageOf(error)}; ${cure}`;
    if (problem === this.#unreadable) return;
    this.#unreadable = problem;
    if (problem) logger.error({ err: error }, problem);
    else logger.info("can read the cluster's log again");
  }

  #leave(problem: string): void {
    this.#problem = problem;
    this.#node?.close();
    this.#follow();
  }

  #noteEpoch(epoch: string): void {
    const from = this.#at?.epoch;
    if (epoch === from) return;
    this.#epochs += 1;
    if (from !== undefined) this.#options.logger.warn({ from, to: epoch }, "the cluster has a new epoch");
  }

  #noteRepair({ offset }: Entry): void {
    this.#repairs += 1;
    if (offset !== this.#repaired + 1)
      this.#options.logger.warn(
        { offset },
        "the cluster's server lost its latest entries; writing them again from memory",
      );
    this.#repaired = offset;
  }

  /** Returns the head's position in the cluster's log; `undefined` if the head lags behind. */
  #standing({ head }: ClusterRun, term: number): MemberStart | undefined {
    const { epoch, seq } = head.cursor;
    if (!this.#at || this.#at.epoch !== epoch || this.#at.seq !== seq) return undefined;
    return { position: this.#at.position, epoch, term };
  }

  /**
   * Continues from the stored state. Each client then resumes from its cursor or gets a `reset`.
   * Returns `undefined` if there is none that this node can use.
   */
  async #reload({ sink }: ClusterRun, signal: AbortSignal): Promise<MemberStart | undefined> {
    const { logger } = this.#options;
    const { stored, snapshot, problem } = await loadUsableNode(this.#options, signal, this.#loaded);
    if (problem && problem !== this.#unusable)
      logger.warn(`cannot use the cluster's stored state: ${problem}`);
    this.#unusable = problem;
    if (!stored) return undefined;
    const { cursor, positions, observedAtMs, lists } = snapshot.end;
    logger.warn({ from: sink.position?.cursor, to: cursor }, "the cluster's log has moved on; reloading");
    const { position, epoch } = stored;
    this.#loaded = position;
    this.#noteEpoch(epoch);
    this.#at = { position, epoch, seq: cursor.seq };
    this.#follower.apply({ type: "begin", cursor, positions, observedAtMs, lists });
    return stored;
  }
}

function withReason(fresh: Freshness, reason: string): Freshness {
  return { ...fresh, reason: [fresh.reason, reason].filter((one) => one !== "").join("; ") };
}
