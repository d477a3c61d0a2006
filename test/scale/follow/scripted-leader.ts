import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import { CHANNELS, toEpoch, toSeq } from "../../../src/base/protocol/index.ts";
import {
  FollowedLeader,
  type Leader,
  type LeaderBatch,
  type ReplicaSink,
} from "../../../src/scale/follow/index.ts";
import { FRESH, INFO } from "../../gateway/hub/hub-fixture.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

/** A follower whose mirror is a list, and whose clock the test moves. */
export interface FollowerUnderTest {
  readonly leader: Leader;
  readonly clock: ManualClock;
  readonly batches: LeaderBatch[];
  /** Cursors at which the mirror began. */
  readonly begun: string[];
  readonly notices: string[];
  /** Makes the next publications fail. */
  failing: boolean;
  /** Called at the start of each publication, which waits for the result. */
  beforePublish: () => Promise<void>;
  /** Resolves when a connection is lost, with the wait until the next attempt. */
  nextWait(): Promise<number>;
  stop(): Promise<void>;
}

/** Follows `url`. Random values are always in the middle of their range. */
export function startFollower(url: string, key?: string): FollowerUnderTest {
  const clock = new ManualClock();
  const [batches, begun, notices]: [LeaderBatch[], string[], string[]] = [[], [], []];
  const over = new AbortController();
  let position: ReplicaSink["position"];
  const leader = new FollowedLeader({
    url,
    key,
    clock,
    staleAfterMs: 15_000,
    random: () => 0.5,
    notify: (_level, sentence) => notices.push(sentence),
  });
  const mirror: ReplicaSink = {
    get position() {
      return position;
    },
    begin: async (cursor, { lists }) => {
      begun.push(`${cursor.epoch}-${cursor.seq}`);
      position = { cursor, snapshot: lists.snapshot };
    },
    publish: async (batch) => {
      await follower.beforePublish();
      if (follower.failing) throw new Error("the disk is gone");
      batches.push(batch);
      const seq = toSeq(batch.events.at(-1)?.seq ?? 0);
      if (position) position = { cursor: { ...position.cursor, seq }, snapshot: batch.snapshot };
    },
  };
  const ran = leader.run(mirror, over.signal);
  const follower: FollowerUnderTest = {
    leader,
    clock,
    batches,
    begun,
    notices,
    failing: false,
    beforePublish: async () => {},
    nextWait: async () => {
      await clock.nextSleep();
      return clock.slept.at(-1) ?? Number.NaN;
    },
    stop: async () => {
      over.abort();
      await ran;
    },
  };
  return follower;
}

export const HELLO = {
  type: "hello",
  protocol: "flarewire.v1",
  server: "flarewire/test",
  server_time: "2026-11-21T08:00:00.000Z",
  epoch: "abcd",
  cursor: "abcd-5",
  heartbeat_interval_ms: 15_000,
  silence_limit_ms: 35_000,
  limits: {
    inbound_bytes: 1,
    commands_per_second: 1,
    commands_burst: 1,
    subscriptions: 1,
    first_command_within_ms: 1,
  },
  source: INFO,
  freshness: FRESH,
};

/** The response that begins at `abcd-5`. */
export const BEGUN = {
  type: "subscribed",
  id: "url",
  channels: CHANNELS,
  cursor: "abcd-5",
  resumed: "reset",
  base: { observed_at: "2017-11-12T08:00:00.000Z", positions: { status: 5, "newest.bsc": 2 }, marks: {} },
  snapshot: EMPTY_SNAPSHOT,
};

/** Returns an event of the epoch `abcd` with the source's state. */
export function statusEvent(seq: number, batch = seq, state = "live") {
  return {
    type: "event",
    cursor: `${toEpoch("abcd")}-${seq}`,
    seq,
    prev: seq - 1,
    batch,
    emitted_at: "2026-11-21T08:00:00.000Z",
    name: "source-status",
    channel: "status",
    observed_at: "2017-11-12T08:00:00.000Z",
    data: { state, reason: "" },
  };
}
