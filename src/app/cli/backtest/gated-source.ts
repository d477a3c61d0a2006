import { isoTime } from "../../../base/lib/time/iso-time.ts";
import { untilAborted } from "../../../base/lib/time/until-aborted.ts";
import type { Freshness } from "../../../base/protocol/index.ts";
import type { Poll, SnapshotSource } from "../../../gateway/source/index.ts";

/** A recorded source that polls only when asked: event time waits for its readers. */
export class GatedSource implements SnapshotSource {
  readonly info: SnapshotSource["info"];
  /** Event time of the latest poll, in milliseconds since 1970 UTC; 0 before the first. */
  observedAtMs = 0;
  isOver = false;
  /** Why the source ended early, if it did. */
  failure: unknown;
  readonly #source: SnapshotSource;
  readonly #toMs: number;
  readonly #onPoll: (poll: Poll) => void;
  #parked = Promise.withResolvers<void>();
  #open = () => {};

  /** The source ends before its first poll after `toMs`, event time in milliseconds. */
  constructor(source: SnapshotSource, toMs: number, onPoll: (poll: Poll) => void) {
    this.info = source.info;
    this.#source = source;
    this.#toMs = toMs;
    this.#onPoll = onPoll;
  }

  /** Lets one poll pass. Resolves when what it found is published, or the source is over. */
  async advance(): Promise<void> {
    await this.#parked.promise;
    if (this.isOver) return;
    this.#parked = Promise.withResolvers<void>();
    this.#open();
    await this.#parked.promise;
  }

  async poll(signal: AbortSignal): Promise<Poll | undefined> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#open = resolve;
    this.#parked.resolve();
    await untilAborted(promise, signal);
    const poll = await this.#source.poll(signal).catch((error: unknown) => {
      this.failure = error;
      return undefined;
    });
    if (poll && poll.observedAtMs <= this.#toMs) {
      this.observedAtMs = poll.observedAtMs;
      this.#onPoll(poll);
      return poll;
    }
    this.isOver = true;
    this.#parked.resolve();
    return undefined;
  }

  /** Always live: a status that depended on the wall clock would differ between runs. */
  freshness(): Freshness {
    const at = this.observedAtMs === 0 ? null : isoTime(this.observedAtMs);
    return { state: "live", reason: "", observed_at: at, last_success_at: at, data_age_ms: 0 };
  }
}
