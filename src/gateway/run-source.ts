import type { Logger } from "pino";
import type { Head, HeadBatch, Hub } from "../hub/index.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { EventLog } from "../log/index.ts";
import type { EventBody } from "../protocol/index.ts";
import { type PollOutcome, runPoller } from "../source/index.ts";
import type { OpenSource } from "./open/open-source.ts";
import { createMirror } from "./persistence/log-replica.ts";
import type { Persistence } from "./persistence/persistence.ts";

/** What a source runs into. */
export interface SourceRun {
  readonly head: Head;
  readonly hub: Hub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Told of each batch that was published. */
  readonly onPublished: (events: readonly EventBody[]) => void;
  /** Told of each poll of a source that is polled: see runPoller. */
  readonly onPoll?: (outcome: PollOutcome, workMs: number) => void;
}

/** A source's log, and how it is filled. */
export interface RunnableSource {
  readonly log: EventLog;
  /** Fills the log until the signal aborts or the source ends; never rejects. */
  run(run: SourceRun): Promise<void>;
  /** Publishes what this gateway has to say itself. `undefined` where it has no say: the places in the log are another's to give. */
  readonly publish: ((batch: HeadBatch, run: Omit<SourceRun, "signal">) => Promise<void>) | undefined;
  /** How long clients may wait for what they are ahead of: see HubLimits. */
  readonly aheadWaitMs: number;
  /** Whether another server may begin to mirror this one now: whoever follows is no leader while it is cut off from its own. */
  mayBeMirrored(): boolean;
}

/** Clients that come from the leader may know more than its follower does: by what a batch is on its way, and a slow moment. */
const LEADER_LAG_MS = 3_000;

/** The log that belongs to this source, out of what was kept. */
export function prepareSource(opened: OpenSource, kept: Persistence): RunnableSource {
  return opened.kind === "leader" ? prepareLeader(opened, kept) : prepareSnapshots(opened, kept);
}

async function publish(
  batch: HeadBatch,
  { head, onPublished }: Pick<SourceRun, "head" | "onPublished">,
): Promise<void> {
  await head.publish(batch);
  onPublished(batch.events);
}

function prepareSnapshots(opened: OpenSource & { kind: "snapshots" }, kept: Persistence): RunnableSource {
  const { source, resume, problem, progress } = opened;
  return {
    log: kept.createLog(problem),
    publish,
    aheadWaitMs: 0,
    mayBeMirrored: () => true,
    run: (run) =>
      runPoller({
        source,
        publish: async (publication) => {
          await publish(publication, run);
          kept.onPublished({ head: run.head, history: run.hub.history }, progress);
        },
        ...(resume ? { resume } : {}),
        ...(run.onPoll ? { onPoll: run.onPoll } : {}),
        clock: run.clock,
        signal: run.signal,
        onError: (error) => run.logger.warn({ err: error }, "poll failed"),
      }),
  };
}

function prepareLeader({ source }: OpenSource & { kind: "leader" }, kept: Persistence): RunnableSource {
  const log = kept.createFollowerLog();
  return {
    log,
    publish: undefined,
    aheadWaitMs: LEADER_LAG_MS,
    mayBeMirrored: () => source.isLinked,
    run: ({ head, hub, onPublished, signal }) =>
      source.run(createMirror({ log, head, history: hub.history, kept, onPublished }), signal),
  };
}
