import { type EventBody, toSeq } from "../../base/protocol/index.ts";
import type { Head } from "../../gateway/hub/index.ts";
import { encodeBody, type FollowerLog, type LogRecord } from "../../gateway/log/index.ts";
import type { HeadState, Persistence } from "../../gateway/persistence/index.ts";
import type { ReplicaSink } from "./leader.ts";
import type { ReplicatedEvent } from "./leader-message.ts";

interface ReplicaDependencies {
  readonly log: FollowerLog;
  readonly head: Head;
  readonly history: HeadState["history"];
  readonly persistence: Pick<Persistence, "onPublished" | "onReset">;
  readonly onPublished: (events: readonly EventBody[]) => void;
}

/** Writes a leader's log into this process's log, with the leader's cursors and times. */
export function createReplicaSink(dependencies: ReplicaDependencies): ReplicaSink {
  const { log, head, history, persistence, onPublished } = dependencies;
  return {
    get position() {
      return head.ready ? { cursor: head.cursor, snapshot: head.snapshot } : undefined;
    },
    async begin(cursor, { observedAtMs, positions, lists }) {
      await head.restart({ observedAtMs, lists }, () => log.restart({ cursor, positions }));
      persistence.onReset({ head, history });
    },
    async publish({ events, snapshot, observedAtMs }) {
      const bodies = events.map(({ body }) => body);
      const records = events.map(recordOf);
      const batch = { events: bodies, snapshot, ...(observedAtMs === undefined ? {} : { observedAtMs }) };
      await head.publish(batch, () => log.appendReplicated(records));
      onPublished(bodies);
      await persistence.onPublished({ head, history });
    },
  };
}

function recordOf({ seq, batch, emittedAtMs, body, encoded, run }: ReplicatedEvent): LogRecord {
  const { name, channel } = body;
  const own = encoded ?? encodeBody(body);
  return { seq: toSeq(seq), batch: toSeq(batch), name, channel, emittedAtMs, encoded: own, run };
}
