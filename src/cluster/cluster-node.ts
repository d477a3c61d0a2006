import { randomBytes } from "node:crypto";
import type { Clock } from "../lib/time/clock.ts";
import type { Effect } from "./effect.ts";
import type { Engine } from "./engine.ts";
import type { Entry } from "./entry.ts";
import { seal } from "./entry-text.ts";
import { Member } from "./member.ts";

/** What a node does for its gateway. */
export interface ClusterEvents {
  /** Committed entries, in order. A base starts an epoch. */
  readonly onDeliver: (entries: readonly Entry[]) => void;
  /** This node leads from now on. */
  readonly onLead: (lead: Extract<Effect, { kind: "lead" }>) => void;
  /** It no longer leads. */
  readonly onFollow: () => void;
}

interface ClusterNodeOptions extends ClusterEvents {
  readonly engine: Engine;
  /** Id of the node, different for each process. Default: a random one. */
  readonly id?: string;
  readonly clock: Clock;
  /** Returns [0, 1). Default `Math.random`. */
  readonly random?: () => number;
}

const TICK_MS = 100;
/** Pause before a reader that ended reads again. */
const REREAD_MS = 100;

/** Runs a {@link Member} on an engine. */
export class ClusterNode {
  readonly id: string;
  readonly #options: ClusterNodeOptions;
  readonly #member: Member;
  readonly #over = new AbortController();
  readonly #stopTicks: () => void;
  readonly #unsubscribe: () => void;
  #reader = new AbortController();
  #readFrom = 1;

  constructor(options: ClusterNodeOptions) {
    const { engine, clock, id = randomBytes(8).toString("base64url"), random = Math.random } = options;
    this.#options = options;
    this.id = id;
    this.#member = new Member({
      id,
      random,
      newEpoch: () => randomBytes(9).toString("base64url"),
      seal: (offset, header, body) =>
        seal(offset, { ...header, nonce: randomBytes(9).toString("base64url") }, body),
    });
    this.#unsubscribe = engine.onNotice((notice) => {
      const { kind } = notice;
      this.#do(
        kind === "commit" ? this.#member.committed(notice.position) : this.#member.forked(notice.epoch),
      );
    });
    this.#stopTicks = clock.every(TICK_MS, () => this.#do(this.#member.tick(this.#nowMs)));
    void this.#read();
  }

  /** Whether it leads and may append a batch now. */
  get canAppend(): boolean {
    return this.#member.canAppend;
  }

  get member(): Pick<Member, "role" | "term" | "delivered" | "isForked"> {
    return this.#member;
  }

  /** Appends a batch. Only while {@link canAppend}. It is delivered like any other. */
  append(body: Buffer): void {
    this.#do(this.#member.batch(body, this.#nowMs));
  }

  /** Ends its part. A leader hands over, so that another leads at once. */
  async stop(): Promise<void> {
    this.#do(this.#member.leave(this.#nowMs));
    this.close();
    await this.#options.engine.close();
  }

  /** Ends without a word, as a process that dies. */
  close(): void {
    this.#over.abort();
    this.#reader.abort();
    this.#stopTicks();
    this.#unsubscribe();
  }

  get #nowMs(): number {
    return this.#options.clock.monotonic();
  }

  async #read(): Promise<void> {
    const { engine, clock } = this.#options;
    const { signal } = this.#over;
    while (!signal.aborted) {
      this.#reader = new AbortController();
      const own = this.#reader.signal;
      for await (const news of engine.read(this.#readFrom, AbortSignal.any([own, signal]))) {
        if (own.aborted) break;
        if (news.kind === "entry") {
          this.#readFrom = news.entry.offset + 1;
          this.#do(this.#member.entry(news.entry, this.#nowMs));
        } else this.#do(this.#member.idle(news.head, this.#nowMs));
      }
      if (!own.aborted) await clock.sleep(REREAD_MS, signal).catch(() => {});
    }
  }

  #do(effects: readonly Effect[]): void {
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    const { engine, onDeliver, onLead, onFollow } = this.#options;
    switch (effect.kind) {
      case "append":
        void this.#append(effect.entry);
        return;
      case "commit":
      case "fork":
        engine.notify(effect);
        return;
      case "deliver":
        onDeliver(effect.entries);
        return;
      case "reread":
        this.#readFrom = Math.max(1, effect.from.offset);
        this.#reader.abort();
        return;
      case "reload":
        this.#readFrom = 1;
        this.#reader.abort();
        return;
      case "lead":
        onLead(effect);
        return;
      case "follow":
        onFollow();
        return;
    }
  }

  async #append(entry: Entry): Promise<void> {
    try {
      const result = await this.#options.engine.append(entry, this.#over.signal);
      this.#do(this.#member.appended(result, this.#nowMs));
    } catch (error) {
      if (!this.#over.signal.aborted) throw error;
    }
  }
}
