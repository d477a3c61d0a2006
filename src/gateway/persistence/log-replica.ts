import type { Head } from "../../hub/index.ts";
import { encodeTail, type FollowerLog, type LogRecord } from "../../log/index.ts";
import { type EventBody, toSeq } from "../../protocol/index.ts";
import type { Mirror, PlacedEvent } from "../../source/index.ts";
import type { HeadState, Kept } from "./persistence.ts";

/** What a mirror is made of. */
export interface MirrorParts {
  readonly log: FollowerLog;
  readonly head: Head;
  readonly history: HeadState["history"];
  readonly kept: Pick<Kept, "afterPoll" | "afterRestart">;
  /** Told of each batch that was published. */
  readonly onPublished: (events: readonly EventBody[]) => void;
}

/** Writes a leader's log into this process's: epoch, places and times are the leader's. */
export function createMirror({ log, head, history, kept, onPublished }: MirrorParts): Mirror {
  return {
    get position() {
      return head.ready ? { cursor: head.cursor, snapshot: head.snapshot } : undefined;
    },
    async begin(cursor, { observedAtMs, positions, lists }) {
      await head.restart({ observedAtMs, lists }, () => log.restart({ cursor, positions }));
      kept.afterRestart({ head, history });
    },
    async publish({ events, snapshot, observedAtMs }) {
      const bodies = events.map(({ body }) => body);
      const records = events.map(recordOf);
      const batch = { events: bodies, snapshot, ...(observedAtMs === undefined ? {} : { observedAtMs }) };
      await head.publish(batch, () => log.appendPlaced(records));
      onPublished(bodies);
      kept.afterPoll({ head, history });
    },
  };
}

function recordOf({ seq, batch, emittedAtMs, body, tail, run }: PlacedEvent): LogRecord {
  const { name, channel } = body;
  const own = tail ?? encodeTail(body);
  return { seq: toSeq(seq), batch: toSeq(batch), name, channel, emittedAtMs, tail: own, run };
}
