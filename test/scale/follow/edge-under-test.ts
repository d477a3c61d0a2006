import { formatCursor, toEpoch } from "../../../src/base/protocol/index.ts";
import { Head, Hub } from "../../../src/gateway/hub/index.ts";
import { type FollowerLog, MemoryLog } from "../../../src/gateway/log/index.ts";
import type { ReplicaSink } from "../../../src/scale/follow/index.ts";
import { readLeaderMessage } from "../../../src/scale/follow/leader-message.ts";
import { LeaderStream } from "../../../src/scale/follow/leader-stream.ts";
import { createReplicaSink } from "../../../src/scale/follow/log-replica.ts";
import { FRESH, type HubUnderTest, INFO, settled } from "../../gateway/hub/hub-fixture.ts";
import type { MockSocket } from "../../gateway/hub/mock-socket.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

const PLACEHOLDER = toEpoch("nothing");

/** A mirror of a hub, over in-memory connections that the test cuts. */
export class EdgeUnderTest {
  readonly clock = new ManualClock();
  readonly log: FollowerLog;
  readonly head: Head;
  readonly hub: Hub;
  readonly mirror: ReplicaSink;
  readonly errors: unknown[] = [];
  /** How often it has started over. */
  begun = 0;
  socket: MockSocket | undefined;

  constructor() {
    const { clock } = this;
    this.log = new MemoryLog({ clock, epoch: PLACEHOLDER });
    this.head = new Head({ log: this.log, onError: (error) => this.errors.push(error) });
    this.hub = new Hub({
      log: this.log,
      head: this.head,
      clock,
      info: () => INFO,
      freshness: () => FRESH,
      serverName: "flarewire/edge",
      onError: (error) => this.errors.push(error),
    });
    const kept = { onPublished: () => {}, onReset: () => {} };
    this.mirror = createReplicaSink({
      log: this.log,
      head: this.head,
      history: this.hub.history,
      persistence: kept,
      onPublished: () => {},
    });
  }

  /** Connects to `leader` and follows it until the socket is ended. */
  connect(leader: HubUnderTest): void {
    const { mirror } = this;
    const { position } = mirror;
    const stream = new LeaderStream(position);
    const take = (text: string) => {
      const step = stream.take(readLeaderMessage(text));
      if (step.kind === "reset") this.begun += 1;
      if (step.kind === "reset") void mirror.begin(step.cursor, step.base);
      if (step.kind === "batch") void mirror.publish(step.batch);
    };
    const after = position && formatCursor(position.cursor);
    this.socket = leader.open({ channels: ["*"], mirror: true, ...(after ? { after } : {}) }, (socket) => {
      socket.onMessage = (message) => take(JSON.stringify(message));
    });
  }

  /** Cuts the connection. Unread data is lost. */
  async cut(): Promise<void> {
    this.socket?.end();
    this.socket = undefined;
    await settled();
  }
}
