import type { Logger } from "pino";
import { notifyLog } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { RestoredState } from "../../gateway/persistence/index.ts";
import { type OpenFollower, resumeOf } from "../../gateway/source/index.ts";
import { FollowedLeader } from "./leader.ts";
import { createReplicaSink } from "./log-replica.ts";

interface LeaderOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly staleAfterMs: number;
  /** Key for a leader that requires one. Default: none. */
  readonly key?: string | undefined;
  /** The stored state to resume from. Default: none. */
  readonly restored?: RestoredState | undefined;
}

/** How far a client of the leader may be ahead: a batch in transit plus a slow moment. */
const LEADER_LAG_MS = 3_000;

/** Opens the log of the gateway at a URL as this gateway's source. */
export function openLeader(url: string, options: LeaderOptions): OpenFollower {
  const { clock, logger, staleAfterMs, key, restored } = options;
  const leader = new FollowedLeader({
    url,
    key,
    clock,
    staleAfterMs,
    notify: notifyLog(logger, { leader: url }),
  });
  return {
    kind: "follower",
    source: {
      get info() {
        return leader.info;
      },
      get isConnected() {
        return leader.isConnected;
      },
      freshness: () => leader.freshness(),
      run: (run, signal) => leader.run(createReplicaSink(run), signal),
    },
    aheadWaitMs: LEADER_LAG_MS,
    mayLackEvents: () => false,
    ...(restored ? { resume: resumeOf(restored, 0) } : {}),
  };
}
