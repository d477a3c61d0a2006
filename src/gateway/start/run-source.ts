import type { Logger } from "pino";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { EventBody } from "../../base/protocol/index.ts";
import type { Head, HeadBatch, Hub } from "../hub/index.ts";
import type { EventLog } from "../log/index.ts";
import type { Persistence } from "../persistence/persistence.ts";
import {
  type OpenFollower,
  type OpenSnapshots,
  type OpenSource,
  type PollOutcome,
  runPoller,
} from "../source/index.ts";

/** The destinations that a source publishes to. */
interface SourceRun {
  readonly head: Head;
  readonly hub: Hub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly onPublished: (events: readonly EventBody[]) => void;
  /** Receives each poll of a polled source: see runPoller. */
  readonly onPoll?: (outcome: PollOutcome, workMs: number) => void;
}

/** A source's log and the loop that fills it. */
export interface RunnableSource {
  readonly log: EventLog;
  /** Fills the log until the signal aborts or the source ends. Never rejects. */
  run(run: SourceRun): Promise<void>;
  /** Publishes this gateway's own events; `undefined` for a follower. */
  readonly publish: ((batch: HeadBatch, run: Omit<SourceRun, "signal">) => Promise<void>) | undefined;
  /** How long clients may wait for events that they are ahead of: see HubLimits. */
  readonly aheadWaitMs: number;
  /** Whether the cluster may have events that this gateway has not read: see HubOptions. */
  mayLackEvents(): boolean;
  /**
   * Whether servers may follow this one: not while it is itself cut off from its leader or cluster.
   */
  mayBeMirrored(): boolean;
}

/** Opens the log of this source from the stored state. */
export function prepareSource(opened: OpenSource, persistence: Persistence): RunnableSource {
  return opened.kind === "snapshots"
    ? prepareSnapshots(opened, persistence)
    : prepareFollower(opened, persistence);
}

async function publish(
  batch: HeadBatch,
  { head, onPublished }: Pick<SourceRun, "head" | "onPublished">,
): Promise<void> {
  await head.publish(batch);
  onPublished(batch.events);
}

function prepareSnapshots(opened: OpenSnapshots, persistence: Persistence): RunnableSource {
  const { source, resume, problem, progress } = opened;
  return {
    log: persistence.createLog(problem),
    publish,
    aheadWaitMs: 0,
    mayLackEvents: () => false,
    mayBeMirrored: () => true,
    run: (run) =>
      runPoller({
        source,
        publish: (publication) => publish(publication, run),
        afterPublish: () => persistence.onPublished({ head: run.head, history: run.hub.history }, progress),
        ...(resume ? { resume } : {}),
        ...(run.onPoll ? { onPoll: run.onPoll } : {}),
        clock: run.clock,
        signal: run.signal,
        onError: (error) => run.logger.warn({ err: error }, "poll failed"),
      }),
  };
}

function prepareFollower(opened: OpenFollower, persistence: Persistence): RunnableSource {
  const { source, aheadWaitMs } = opened;
  const log = persistence.createFollowerLog();
  return {
    log,
    publish: undefined,
    aheadWaitMs,
    mayLackEvents: () => opened.mayLackEvents(),
    mayBeMirrored: () => source.isConnected,
    run: ({ head, hub: { history }, onPublished, onPoll, signal }) =>
      source.run({ log, head, history, persistence, onPublished, onPoll }, signal),
  };
}
