import type { Logger } from "pino";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import {
  type EventBody,
  type Freshness,
  type Lists,
  listsOf,
  type SourceInfo,
  toEpoch,
  toSeq,
} from "../../../base/protocol/index.ts";
import { encodeBody, type LogRecord } from "../../../gateway/log/index.ts";
import {
  CheckpointSchedule,
  type EngineProgress,
  encodeLists,
  PacedWork,
  type RestoredState,
  readState,
} from "../../../gateway/persistence/index.ts";
import {
  type OpenSnapshots,
  type PollOutcome,
  type Publication,
  runPoller,
  watchFreshness,
} from "../../../gateway/source/index.ts";
import type { MarketOpener } from "../../../gateway/start/index.ts";
import { type ClusterNode, type Lead, NotLeading } from "../cluster-node.ts";
import type { Checkpoint, Engine } from "../engine.ts";
import type { MemberStart } from "../entry.ts";
import type { ClusterTask } from "./cluster-task.ts";
import { type EntryContent, encodeContent } from "./entry-body.ts";
import type { SharedMarket } from "./shared-market.ts";
import { type NodeState, StateEncoder, storedSlices, storedText } from "./stored-node.ts";

interface LeadingDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly engine: Engine;
  readonly node: Pick<ClusterNode, "abandon" | "append" | "live" | "renew">;
  readonly state: NodeState;
  readonly task: Pick<ClusterTask, "lead" | "follow">;
  readonly market: MarketOpener;
  readonly common: Pick<SharedMarket, "check">;
  /** Resolves when everything that was delivered is in this node's log. Rejects if that failed. */
  readonly applied: () => Promise<void>;
  /**
   * Returns the position of `state` in the cluster's log; `undefined` while `state` lags behind.
   */
  readonly standing: () => MemberStart | undefined;
  readonly freshness: () => Freshness;
  /** Called when the source could not be opened, or has failed for good. */
  readonly onFailure: (error: unknown) => void;
  /** Receives each poll: see runPoller. */
  readonly onPoll?: ((outcome: PollOutcome, workMs: number) => void) | undefined;
}

type Change = Omit<EntryContent, "report">;

/** Stands for a source that has not reported yet. */
export const UNKNOWN: SourceInfo = {
  name: "cluster",
  origin: "live",
  facts: { trades: false, liquidity: false, listings: false, profiles: false },
};

/**
 * Runs the source and publishes it to the cluster, from the state at which the last leader ended.
 */
export class Leading {
  readonly #dependencies: LeadingDependencies;
  #lead: Lead;
  readonly #over = new AbortController();
  readonly #encoder = new StateEncoder();
  readonly #schedule: CheckpointSchedule;
  readonly #done: Promise<void>;
  #opened: OpenSnapshots | undefined;
  #hasPublished = false;
  #queue: Promise<void> = Promise.resolve();
  #isStoring = false;
  #hasEncoded = false;
  #emittedAtMs = 0;

  /** @param after Resolves when an earlier source of this node has ended. */
  constructor(dependencies: LeadingDependencies, lead: Lead, after: Promise<void>) {
    this.#dependencies = dependencies;
    this.#lead = lead;
    this.#schedule = new CheckpointSchedule(dependencies.clock);
    this.#done = this.#run(after);
  }

  /** The source, once it has published or while the head has no data. */
  get opened(): OpenSnapshots | undefined {
    return this.#hasPublished || !this.#dependencies.state.head.ready ? this.#opened : undefined;
  }

  /**
   * Continues in a new epoch, from the lists that clients hold. Returns false if the source has not
   * published yet or was stopped.
   */
  begin(lead: Lead): boolean {
    if (!this.#hasPublished || this.#over.signal.aborted) return false;
    this.#lead = lead;
    this.#schedule.reset();
    this.#leadTask().catch(this.#dependencies.onFailure);
    // A failure means that this node no longer leads.
    this.#appendLists().catch(() => {});
    return true;
  }

  /** Stores the state after the next poll: another node cannot use the stored one. */
  storeSoon(): void {
    this.#schedule.reset();
  }

  /** Stops the source. Resolves when it has ended. */
  stop(): Promise<void> {
    this.#over.abort(new NotLeading("this node no longer leads"));
    this.#dependencies.task.follow();
    // Does not wait for the cluster's server, which may be down.
    this.#dependencies.node.abandon();
    return this.#done;
  }

  async #run(after: Promise<void>): Promise<void> {
    const { signal } = this.#over;
    await after;
    try {
      const opened = await this.#open();
      if (!opened || signal.aborted) return;
      this.#opened = opened;
      // Not before: its entries would make the other nodes impatient.
      await this.#leadTask();
      await this.#dependencies.node.live();
      await this.#publishFrom(opened);
      const { state, reason } = opened.source.freshness();
      if (state === "down") throw new Error(reason);
    } catch (error) {
      if (!signal.aborted) this.#dependencies.onFailure(error);
    } finally {
      await this.#opened?.close?.().catch((error: unknown) => {
        this.#dependencies.logger.error({ err: error }, "failed to close the source");
      });
    }
  }

  /**
   * Opens the source. If the state cannot be resumed in this epoch, requests a new one and returns
   * `undefined`.
   */
  async #open(): Promise<OpenSnapshots | undefined> {
    const { logger, node, market, common, state, applied } = this.#dependencies;
    await applied();
    await common.check();
    await this.#continueTime();
    this.#over.signal.throwIfAborted();
    const restored = state.head.ready ? await this.#restored(state) : undefined;
    const usable = restored && "problem" in restored ? undefined : restored;
    // Opening the source may block this node.
    await node.live();
    this.#over.signal.throwIfAborted();
    const opened = market.open(usable);
    const problem = restored && "problem" in restored ? restored.problem : opened.problem;
    if (problem === undefined || this.#isNewEpoch) return opened;
    await opened.close?.();
    logger.warn(`starting a new epoch: ${problem}`);
    node.renew();
    return undefined;
  }

  /** Reads the last event's time. The last leader's clock may have been ahead of this one. */
  async #continueTime(): Promise<void> {
    const { log } = this.#dependencies.state;
    const last = await log.read(log.cursorAt(toSeq(Math.max(0, log.head.seq - 1))), 1);
    if (last.kind === "records") this.#emittedAtMs = last.records[0]?.emittedAtMs ?? 0;
  }

  /** Combines this node's lists with the state of the engine that the last leader stored. */
  async #restored({ head, history }: NodeState): Promise<RestoredState | { readonly problem: string }> {
    const known = { lists: history.lists, checkpoints: [] };
    const { observedAtMs } = head;
    const { fingerprint: own, needsEngine } = this.#dependencies.market;
    if (!needsEngine) return { known, observedAtMs, engine: undefined };
    const names = ["fingerprint", "state", "slices"];
    const found = await this.#dependencies.engine.load(names, this.#over.signal);
    const fingerprint = String(found?.values.fingerprint ?? own);
    await this.#dependencies.node.live();
    try {
      const text = found && (await storedText(found, "state"));
      const stored = readState({ fingerprint, text, slices: found && storedSlices(found) }, own, true);
      return "problem" in stored ? stored : { known, observedAtMs, engine: stored.engine };
    } catch (error) {
      return { problem: `the stored state cannot be read (${messageOf(error)})` };
    }
  }

  async #publishFrom({ source, resume, progress }: OpenSnapshots): Promise<void> {
    const { clock, logger, state, freshness, onPoll } = this.#dependencies;
    const { signal } = this.#over;
    const { head } = state;
    if (resume && this.#isNewEpoch) await this.#appendLists();
    const unwatch = watchFreshness({
      clock,
      freshness,
      onChange: (event) => {
        this.#append(() => (head.ready ? this.#batch([event], head.observedAtMs) : undefined)).catch(
          (error) =>
            signal.aborted ||
            error instanceof NotLeading ||
            logger.error({ err: error }, "failed to publish the status"),
        );
      },
    });
    try {
      await runPoller({
        source,
        clock,
        signal,
        ...(resume ? { resume: { snapshot: head.snapshot, afterMs: resume.afterMs } } : {}),
        ...(onPoll ? { onPoll } : {}),
        publish: (publication) => this.#publish(publication),
        afterPublish: () => this.#store(progress),
        onError: (error) => logger.warn({ err: error }, "poll failed"),
      });
    } finally {
      unwatch();
    }
  }

  async #publish({ events, snapshot, observedAtMs }: Publication): Promise<void> {
    const isBase = events.length === 0;
    await this.#append(() =>
      isBase ? this.#beginning(listsOf(snapshot), observedAtMs) : this.#batch(events, observedAtMs),
    );
    this.#hasPublished = true;
  }

  #appendLists(): Promise<void> {
    const { head, history } = this.#dependencies.state;
    return this.#append(() => this.#beginning(history.lists, head.observedAtMs));
  }

  /** Whether this node's log has not yet entered the epoch of this lead. */
  get #isNewEpoch(): boolean {
    const { head } = this.#dependencies.state;
    return !head.ready || head.cursor.epoch !== this.#lead.epoch;
  }

  async #leadTask(): Promise<void> {
    this.#dependencies.task.lead((alerts) => this.#append(() => ({ alerts })), this.#lead.isNewEpoch);
  }

  /** Appends to the cluster's log, then waits until this node's own log has it too. */
  #append(content: () => Change | undefined): Promise<void> {
    const { node, applied, freshness } = this.#dependencies;
    const { signal } = this.#over;
    const work = this.#queue.then(async () => {
      signal.throwIfAborted();
      const change = content();
      if (!change) return;
      const report = { info: this.#opened?.source.info ?? UNKNOWN, freshness: freshness() };
      await node.append(encodeContent({ report, ...change }));
      await applied();
    });
    this.#queue = work.catch(() => {});
    return work.catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
  }

  #beginning(lists: Lists, observedAtMs: number): Change {
    const cursor = { epoch: toEpoch(this.#lead.epoch), seq: toSeq(0) };
    return { update: { type: "begin", cursor, positions: {}, observedAtMs, lists: encodeLists(lists) } };
  }

  #batch(events: readonly EventBody[], observedAtMs: number): Change {
    const { clock, state } = this.#dependencies;
    const { seq } = state.head.cursor;
    // Times never go back, whatever this machine's clock says.
    this.#emittedAtMs = Math.max(this.#emittedAtMs, clock.now());
    const batch = toSeq(seq + events.length);
    const records = events.map((event, index): LogRecord => {
      const { name, channel } = event;
      const encoded = encodeBody(event);
      return { seq: toSeq(seq + index + 1), batch, name, channel, emittedAtMs: this.#emittedAtMs, encoded };
    });
    return { update: { type: "batch", records, observedAtMs } };
  }

  /**
   * Stores the state at intervals, for the next leader and for nodes that start. Resolves once the
   * first one is encoded, at once for later ones. Failures are logged.
   */
  async #store(progress: (() => EngineProgress | undefined) | undefined): Promise<void> {
    const { clock, state, standing } = this.#dependencies;
    const at = standing();
    if (this.#isStoring || !at || !this.#schedule.isDue(state.head.cursor.seq)) return;
    const encoding = this.#encode(progress, new PacedWork(clock, this.#over.signal));
    this.#isStoring = true;
    void this.#storeEncoded(encoding, at);
    if (!this.#hasEncoded) await encoding.catch(() => {});
  }

  /** Resolves with `undefined` if the engine's state is not to be stored now. */
  async #encode(
    progress: (() => EngineProgress | undefined) | undefined,
    work: PacedWork,
  ): Promise<Checkpoint["values"] | undefined> {
    const { market, state } = this.#dependencies;
    const { seq } = state.head.cursor;
    try {
      const now = progress?.();
      if (market.needsEngine && !now) return undefined;
      const pause = () => work.pauseIfDue(this.#hasEncoded);
      const values = await this.#encoder.encode(state, market.fingerprint, now, pause);
      this.#hasEncoded = true;
      this.#schedule.stored(seq, work.ms);
      return values;
    } catch (error) {
      this.#schedule.stored(seq, work.ms);
      throw error;
    }
  }

  async #storeEncoded(encoding: Promise<Checkpoint["values"] | undefined>, at: MemberStart): Promise<void> {
    const { engine, logger, node } = this.#dependencies;
    try {
      const values = await encoding;
      if (!values || (await engine.store({ ...at, values })) === "stored" || this.#over.signal.aborted)
        return;
      // If this node does not lead any more, the log refuses the new epoch, too.
      logger.warn("starting a new epoch: the stored state is of a later term or position");
      node.renew();
    } catch (error) {
      logger.warn({ err: error }, "failed to store the cluster's state");
    } finally {
      this.#isStoring = false;
    }
  }
}
