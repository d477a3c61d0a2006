import { ChildProcess } from "node:child_process";
import { toEpoch, toSeq } from "../../src/base/protocol/index.ts";
import type { ToPrimary, ToWorker } from "../../src/workers/messages.ts";

/** A fake worker process, driven by the test. */
export class FakeChild extends ChildProcess {
  override connected = true;
  override readonly pid: number;
  readonly received: ToWorker[] = [];
  readonly handles: unknown[] = [];

  constructor(pid: number) {
    super();
    this.pid = pid;
  }

  override send(message: unknown, ...more: readonly unknown[]): boolean {
    this.received.push(message as ToWorker);
    const [handle] = more;
    if (typeof handle === "object") this.handles.push(handle);
    const done = more.findLast((one) => typeof one === "function");
    if (done) queueMicrotask(() => done(null));
    return true;
  }

  override kill(): boolean {
    this.end(null, "SIGKILL");
    return true;
  }

  /** Sends a message to the primary. */
  say(message: ToPrimary): void {
    this.emit("message", message, undefined);
  }

  /** Responds to one liveness check. */
  alive(connections = 0, seq?: number): void {
    const cursor = seq === undefined ? undefined : { epoch: toEpoch("abcd"), seq: toSeq(seq) };
    this.say({ type: "alive", cursor, hasSnapshot: true, connections });
  }

  /** Ends the process, then its channel. */
  end(code: number | null, signal: NodeJS.Signals | null = null): void {
    if (!this.connected) return;
    this.emit("exit", code, signal);
    this.close();
  }

  /** Ends the channel, which emits `close`. */
  close(): void {
    this.connected = false;
    this.emit("close");
  }

  types(): readonly ToWorker["type"][] {
    return this.received.map(({ type }) => type);
  }
}
