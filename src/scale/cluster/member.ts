import { Branch } from "./branch.ts";
import type { AppendResult, Effect } from "./effect.ts";
import {
  before,
  type Entry,
  type EntryHeader,
  type EntryKind,
  isSame,
  LOG_START,
  type MemberStart,
  type Position,
} from "./entry.ts";
import { type Reading, RecentEntries } from "./recent-entries.ts";
import { Silence } from "./silence.ts";

/** Minimum time that other nodes wait for the leader to repair the log. */
const REPAIR_MS = 500;
/** How often a forked node asks for a new epoch. */
const FORK_EVERY_MS = 1_000;
/** How often a leader without events writes a sign of life. */
const ALIVE_MS = 1_000;
/** Entries to remember: ten minutes at one batch per second. */
const REMEMBERED = 600;

export interface MemberOptions {
  /** Id of the node, different for each process. */
  readonly id: string;
  /** Returns [0, 1). */
  readonly random: () => number;
  /** Makes an entry with its hash. */
  readonly seal: (offset: number, header: Omit<EntryHeader, "nonce">, body: Buffer) => Entry;
  readonly newEpoch: () => string;
  /** Number of delivered entries to remember, for repairs. Default 600. */
  readonly remembered?: number;
  /** Position of this node's own state. Default: it has none. */
  readonly start?: MemberStart | undefined;
  /** Returns the body of a leader's sign of life. Default: empty. */
  readonly report?: (() => Buffer) | undefined;
}

interface Flight {
  /** The new entry, appended last; `undefined` if a follower only repairs the log. */
  readonly entry: Entry | undefined;
  /** Entries to append before the new one, because the engine lost them. */
  readonly repairs: readonly Entry[];
}

type Role = "follower" | "candidate" | "leader";

/**
 * One node's part in the protocol that keeps a single history across any number of nodes. Decides
 * when the node delivers, leads and stops. Has no clock, I/O or randomness of its own. `nowMs` is
 * always the node's monotonic time. Each call returns what the node must do.
 *
 * Safety depends only on the engine's compare-and-append. Time only decides which node tries.
 */
export class Member {
  readonly #options: MemberOptions;
  readonly #recent: RecentEntries;
  readonly #silence: Silence;
  readonly #effects: Effect[] = [];
  #role: Role = "follower";
  /** Highest term seen. */
  #term = 0;
  #epoch: string;
  #flight: Flight | undefined;
  /** Earlier epochs of this node. It never returns to one. */
  readonly #pastEpochs = new Set<string>();
  /** The log, as far as it was read, if it contradicts this node's own history. */
  #branch: Branch | undefined;
  #isForked = false;
  /** Whether the log no longer has the entries that follow this node's own state. */
  #isBehind = false;
  /** Time before which this node does not try to lead. */
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  /** End of the engine's log, as {@link idle} last received it. */
  #engineHead: Position | undefined;
  #wroteAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** When to repair the engine's log, if that ends before what this node delivered. */
  #repairAtMs: number | undefined;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.#recent = new RecentEntries(options.remembered ?? REMEMBERED, options.start?.position);
    this.#epoch = options.start?.epoch ?? "";
    this.#term = options.start?.term ?? 0;
    this.#silence = new Silence(options.random, options.start !== undefined);
  }

  get role(): Role {
    return this.#role;
  }

  get term(): number {
    return this.#term;
  }

  get delivered(): Position {
    return this.#recent.delivered;
  }

  /** Whether this node has delivered entries that the log replaced, and waits for a new epoch. */
  get isForked(): boolean {
    return this.#isForked;
  }

  /** Whether this node leads and may append a batch now. */
  get canAppend(): boolean {
    return this.#role === "leader" && this.#flight === undefined;
  }

  /** Handles an entry that was read. Entries come in order, starting at the node's position. */
  entry(entry: Entry, nowMs: number): readonly Effect[] {
    this.#silence.noteAnswer(nowMs);
    if (this.#branch) this.#readBranch(entry, this.#branch, nowMs);
    else this.#read(entry, nowMs);
    return this.#flush();
  }

  /** Handles the end of the log, once everything was read. Call it at least twice a second. */
  idle(head: Position, nowMs: number): readonly Effect[] {
    this.#silence.noteAnswer(nowMs);
    this.#engineHead = head;
    this.#isBehind &&= head.offset > this.#recent.last.offset;
    if (this.#branch) this.#judge(this.#branch, head, nowMs);
    else if (this.#isBehind) this.#effects.push({ kind: "reload" });
    else if (this.#role === "follower" && !this.#flight) this.#compare(head, nowMs);
    return this.#flush();
  }

  committed(position: Position): readonly Effect[] {
    this.#branch?.commit(position);
    if (!this.#branch) {
      this.#react(this.#recent.commit(position));
      this.#deliver();
    }
    return this.#flush();
  }

  /** Handles a node's report that the log's entries of this epoch contradict what it delivered. */
  forked(epoch: string): readonly Effect[] {
    return epoch === this.#epoch ? this.renew() : [];
  }

  /** Starts a new epoch, if {@link canAppend}. Its commit causes another effect `lead`. */
  renew(): readonly Effect[] {
    if (this.canAppend) this.#beginEpoch(this.#recent.last);
    return this.#flush();
  }

  /** Campaigns, writes a sign of life or reports a fork, if due. Call it several times a second. */
  tick(nowMs: number): readonly Effect[] {
    if (this.#flight || nowMs < this.#restsUntilMs) return this.#flush();
    if (this.#role === "leader") {
      if (nowMs - this.#wroteAtMs >= ALIVE_MS) this.#write("alive", nowMs, this.#options.report?.());
    } else if (this.#engineHead && this.#silence.isLongEnough(nowMs, this.#isInDoubt)) this.#campaign(nowMs);
    else if (this.#isForked && nowMs - this.#askedAtMs >= FORK_EVERY_MS) {
      this.#askedAtMs = nowMs;
      this.#effects.push({ kind: "fork", epoch: this.#branch?.base?.header.epoch ?? this.#epoch });
    }
    return this.#flush();
  }

  /** Writes a sign of life, if {@link canAppend}: the leader may be busy for a while. */
  live(nowMs: number): readonly Effect[] {
    if (this.canAppend) this.#write("alive", nowMs, this.#options.report?.());
    return this.#flush();
  }

  /** Appends a batch. Call it only while {@link canAppend}. */
  batch(body: Buffer, nowMs: number): readonly Effect[] {
    if (!this.canAppend) throw new Error("only a leader without an append in flight can append");
    this.#write("batch", nowMs, body);
    return this.#flush();
  }

  /** Hands over, if {@link canAppend}. Does not try to lead again for `restMs`. */
  leave(nowMs: number, restMs: number): readonly Effect[] {
    if (this.canAppend) this.#write("handover", nowMs);
    this.#restsUntilMs = nowMs + restMs;
    return this.#flush();
  }

  /** Handles the result of the append in flight. */
  appended(result: AppendResult, nowMs: number): readonly Effect[] {
    const flight = this.#flight;
    if (!flight) throw new Error("no append is in flight");
    this.#flight = undefined;
    this.#silence.noteAnswer(nowMs);
    if (result.kind === "fenced") this.#fenced(nowMs);
    else if (result.kind === "truncated") this.#repair(flight.entry, result.head);
    else if (flight.repairs.length > 0) this.#send(flight.entry, flight.repairs.slice(1));
    else if (flight.entry) this.#committedOwn(flight.entry, nowMs);
    return this.#flush();
  }

  /** Continues from the stored state, which was loaded for the effect `reload`. */
  reloaded({ position, epoch, term }: MemberStart): readonly Effect[] {
    this.#recent.restart(position);
    this.#enter(epoch);
    this.#term = Math.max(this.#term, term);
    this.#leaveBranch();
    this.#effects.push({ kind: "reread", from: position });
    return this.#flush();
  }

  #flush(): readonly Effect[] {
    return this.#effects.splice(0);
  }

  #read(entry: Entry, nowMs: number): void {
    if (this.#pastEpochs.has(entry.header.epoch)) {
      this.#handleContradiction();
      return;
    }
    const reading = this.#recent.receive(entry);
    if (reading !== "accepted") this.#react(reading);
    if (reading === "accepted" || reading === "gap") this.#note(entry, nowMs);
    if (reading !== "accepted") return;
    const committed = this.#recent.at(entry.header.committed);
    if (committed) this.#recent.commit(committed);
    this.#deliver();
  }

  #readBranch(entry: Entry, branch: Branch, nowMs: number): void {
    if (branch.receive(entry)) this.#note(entry, nowMs);
    else this.#reread();
  }

  /** Decides, at the end of a contradicting log, whether that log is the cluster's. Acts on it. */
  #judge(branch: Branch, head: Position, nowMs: number): void {
    const { base } = branch;
    const verdict = branch.judge(this.#recent, head, this.#pastEpochs, this.#epoch);
    if (verdict === "own") {
      this.#leaveBranch();
      this.#reread();
    } else if (verdict === "new-epoch" && base) {
      this.#leaveBranch();
      this.#enter(base.header.epoch);
      this.#recent.restart(before(base));
      for (const entry of branch.entries) this.#read(entry, nowMs);
    } else if (verdict === "fork") {
      this.#isForked = true;
      if (!base) this.#effects.push({ kind: "reload" });
    }
  }

  #enter(epoch: string): void {
    if (epoch !== this.#epoch) this.#pastEpochs.add(this.#epoch);
    this.#epoch = epoch;
  }

  #leaveBranch(): void {
    this.#branch = undefined;
    this.#isForked = false;
    this.#isBehind = false;
  }

  /** Whether the log may lack committed entries, or may be a former primary's (branch.ts). */
  get #isInDoubt(): boolean {
    return this.#recent.lacksCommitted || this.#isBehind || (this.#branch !== undefined && !this.#isForked);
  }

  /** Compares the engine's log with what this node delivered. Repairs the log's end, if due. */
  #compare(head: Position, nowMs: number): void {
    const { delivered } = this.#recent;
    if (head.offset > delivered.offset || isSame(head, delivered)) {
      this.#repairAtMs = undefined;
      const own = this.#recent.at(head.offset);
      if (own && own.hash !== head.hash) this.#reread();
      return;
    }
    const missing = this.#recent.after(head)?.filter(({ offset }) => offset <= delivered.offset);
    if (!missing || missing.length === 0) {
      this.#handleContradiction();
      return;
    }
    this.#repairAtMs ??= nowMs + REPAIR_MS * (1 + this.#options.random());
    if (nowMs >= this.#repairAtMs) this.#send(undefined, missing);
  }

  #note({ offset, header }: Entry, nowMs: number): void {
    // An old entry that is read again is no sign of life.
    const isOld = this.#isBehind && offset <= (this.#engineHead?.offset ?? 0);
    if (!isOld && header.kind === "handover") this.#silence.noteDeparture(nowMs);
    else if (!isOld) this.#silence.noteLeader(nowMs);
    if (header.by !== this.#options.id) this.#stepDown();
    this.#term = Math.max(this.#term, header.term);
  }

  #react(reading: Reading): void {
    if (reading === "reread") this.#reread();
    else if (reading === "gap") this.#isBehind = true;
    else if (reading === "fork") this.#handleContradiction();
  }

  /** Handles a log that contradicts what was delivered. A leader learns from its next append. */
  #handleContradiction(): void {
    if (this.#role !== "leader") this.#branch = new Branch();
    this.#reread();
  }

  /** Rereads from the last delivered entry, or from the start if the log contradicts it. */
  #reread(): void {
    this.#recent.dropPending();
    this.#branch?.clear();
    this.#effects.push({ kind: "reread", from: this.#branch ? LOG_START : this.#recent.delivered });
  }

  #stepDown(): void {
    if (this.#role === "leader") this.#effects.push({ kind: "follow" });
    this.#role = "follower";
  }

  #deliver(): void {
    const entries = this.#recent.take();
    if (entries.length === 0) return;
    for (const { header } of entries) {
      this.#enter(header.epoch);
      this.#silence.noteEntry(header);
    }
    this.#effects.push({ kind: "deliver", entries });
  }

  /** Tries to lead. Keeps uncommitted entries: the last leader may have died before the commit. */
  #campaign(nowMs: number): void {
    this.#role = "candidate";
    this.#silence.noteLeader(nowMs);
    this.#term += 1;
    const isLost = this.#branch !== undefined || this.#isBehind || this.#recent.lacksCommitted;
    if (isLost) this.#beginEpoch(this.#engineHead ?? LOG_START);
    else if (this.#recent.last.offset === 0) this.#beginEpoch(LOG_START);
    else this.#write("term", nowMs);
  }

  #write(kind: EntryKind, nowMs: number, body: Buffer = Buffer.alloc(0)): void {
    this.#wroteAtMs = nowMs;
    const epoch = this.#recent.newest?.header.epoch ?? this.#epoch;
    this.#send(this.#seal(kind, this.#recent.last, epoch, body), []);
  }

  #beginEpoch(after: Position): void {
    if (this.#role === "follower") this.#role = "candidate";
    this.#send(this.#seal("base", after, this.#options.newEpoch(), Buffer.alloc(0)), []);
  }

  #seal(kind: EntryKind, after: Position, epoch: string, body: Buffer): Entry {
    const { id, seal } = this.#options;
    // Entries before a new epoch may be unknown to this node.
    const isOwn = this.#recent.at(after.offset)?.hash === after.hash;
    const committed = isOwn ? Math.min(after.offset, this.#recent.delivered.offset) : 0;
    const header = { kind, term: this.#term, by: id, prev: after.hash, committed, epoch };
    return seal(after.offset + 1, header, body);
  }

  #send(entry: Entry | undefined, repairs: readonly Entry[]): void {
    const next = repairs[0] ?? entry;
    if (!next) return;
    this.#flight = { entry, repairs };
    this.#effects.push({ kind: "append", entry: next, isRepair: repairs.length > 0 });
  }

  /** Appends lost entries again. If memory lacks one, a leader or candidate starts an epoch. */
  #repair(entry: Entry | undefined, head: Position): void {
    const missing = entry?.header.kind === "base" ? undefined : this.#recent.after(head);
    if (missing) this.#send(entry, missing);
    else if (entry) this.#beginEpoch(head);
  }

  #fenced(nowMs: number): void {
    this.#stepDown();
    this.#silence.noteLeader(nowMs);
    this.#reread();
  }

  /** Handles the commit of this node's entry, and so of every entry before it. */
  #committedOwn(entry: Entry, nowMs: number): void {
    const { header } = entry;
    if (header.kind === "base") {
      this.#leaveBranch();
      this.#recent.restart(before(entry));
    }
    if (isSame(this.#recent.last, before(entry))) this.#recent.receive(entry);
    const position = { offset: entry.offset, hash: entry.hash };
    this.#react(this.#recent.commit(position));
    this.#effects.push({ kind: "commit", position });
    this.#deliver();
    this.#silence.noteLeader(nowMs);
    if (header.kind === "handover" || this.#term > header.term) this.#stepDown();
    else if (header.kind === "base" || this.#role === "candidate") {
      this.#role = "leader";
      const isNewEpoch = header.kind === "base";
      this.#effects.push({ kind: "lead", term: header.term, epoch: header.epoch, isNewEpoch });
    }
  }
}
