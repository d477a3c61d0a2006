import type { AppendResult, Effect } from "../../../src/scale/cluster/effect.ts";
import type { Entry, EntryHeader } from "../../../src/scale/cluster/entry.ts";
import { Member } from "../../../src/scale/cluster/member.ts";
import { append, type EngineServer, end, LossyEngine, Schedule } from "./lossy-engine.ts";

/** Faults that a run may contain. */
export interface FaultPlan {
  /** Number of nodes that restart without memory, or pause for a while. */
  readonly nodeFaults: number;
  /** Number of primaries that stop or pause for a while. */
  readonly primaryFaults: number;
  /** Number of times that the engine loses its latest entries on all servers. */
  readonly losses: number;
  /** Number of times that the machine with the leader and the primary dies. */
  readonly machineFaults: number;
  /** Number of nodes that cannot reach the engine for a while. */
  readonly partitions: number;
  /**
   * Whether so much fails at once that nodes may deliver different entries. A new epoch must then
   * follow.
   */
  readonly maySplit: boolean;
  /** Whether nodes remember few entries, and one of them reads up to two seconds late. */
  readonly isSlow: boolean;
  /** Whether the engine acknowledges an entry before a replica has it. */
  readonly isHasty?: boolean;
}

/** What happened in a run. */
export interface Outcome {
  /** One message for each broken invariant. */
  readonly violations: readonly string[];
  readonly epochs: number;
  readonly terms: number;
  readonly delivered: number;
}

const RUN_MS = 30_000;
/** Time at the end of a run in which no new fault begins. */
const QUIET_MS = 16_000;

/** Returns numbers in [0, 1) (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Runs three nodes on a lossy engine. The same seed and plan give the same run. */
export function simulate(seed: number, plan: FaultPlan): Outcome {
  return new Simulation(seed, plan).run();
}

class Simulation {
  readonly schedule = new Schedule();
  readonly random: () => number;
  readonly engine: LossyEngine;
  readonly violations: string[] = [];
  readonly #plan: FaultPlan;
  readonly #nodes: SimulatedNode[];
  #nonce = 0;
  #epochs = 0;
  /** Hashes of the entries that were ever acknowledged. */
  readonly acknowledged = new Set<string>();
  /** Hash of the entry that was delivered first, by epoch and offset. */
  readonly #history = new Map<string, string>();
  #delivered = 0;

  constructor(seed: number, plan: FaultPlan) {
    this.random = generator(seed);
    this.#plan = plan;
    this.engine = new LossyEngine(this.schedule, this.random);
    this.#nodes = [0, 1, 2].map((id) => new SimulatedNode(this, id, plan.isSlow));
  }

  run(): Outcome {
    for (const node of this.#nodes) node.start();
    this.#planFaults();
    this.schedule.runUntil(RUN_MS);
    this.#checkEnd();
    const terms = Math.max(...this.#nodes.map(({ member }) => member.term));
    const epochs = new Set([...this.#history.keys()].map((key) => key.split(" ")[0])).size;
    return { violations: this.violations, epochs, terms, delivered: this.#delivered };
  }

  get isHasty(): boolean {
    return this.#plan.isHasty ?? false;
  }

  newEpoch(): string {
    this.#epochs += 1;
    return `e${this.#epochs}`;
  }

  seal(offset: number, header: Omit<EntryHeader, "nonce">, body: Buffer): Entry {
    const nonce = `${++this.#nonce}`;
    return { offset, hash: `h${nonce}`, header: { ...header, nonce }, body };
  }

  /** Announces something to all nodes: late, out of order, or never. */
  announce(tell: (node: SimulatedNode) => void): void {
    for (const node of this.#nodes)
      if (this.random() > 0.1)
        this.schedule.after(this.random() ** 3 * 300, () => node.hear(() => tell(node)));
  }

  /** Checks I2 and I3 at each delivery. */
  noteDelivered(node: SimulatedNode, entry: Entry): void {
    this.#delivered += 1;
    const where = `node ${node.id}, offset ${entry.offset}, epoch ${entry.header.epoch}`;
    if (!this.acknowledged.has(entry.hash))
      this.violations.push(`I2: delivered before it was acknowledged: ${where}`);
    const key = `${entry.header.epoch} ${entry.offset}`;
    const first = this.#history.get(key);
    if (first === undefined) this.#history.set(key, entry.hash);
    else if (first !== entry.hash && !this.#plan.maySplit)
      this.violations.push(`I3: two histories: ${where}`);
  }

  #planFaults(): void {
    const span = RUN_MS - QUIET_MS;
    const at = () => 1_000 + this.random() * (span - 1_000);
    const times = (count: number, run: () => void) => {
      for (let index = 0; index < count; index++) this.schedule.after(at(), run);
    };
    const anyNode = () => this.#nodes[Math.floor(this.random() * 3)];
    times(this.#plan.nodeFaults, () => {
      const node = this.random() < 0.5 ? this.#nodes.find(({ isLeading }) => isLeading) : anyNode();
      if (this.random() < 0.5) node?.restart(this.random() * 5_000);
      else node?.pause(this.random() * 8_000);
    });
    times(this.#plan.primaryFaults, () => this.engine.fail(this.random() < 0.5, this.random() * 8_000));
    times(this.#plan.machineFaults, () => {
      this.#nodes.find(({ isLeading }) => isLeading)?.restart(3_000 + this.random() * 3_000);
      this.engine.fail(true, 6_000, true);
    });
    times(this.#plan.losses, () =>
      this.engine.lose(this.random() < 0.2 ? Infinity : 1 + Math.floor(this.random() * 5)),
    );
    times(this.#plan.partitions, () => anyNode()?.cut(this.random() * 8_000));
  }

  #checkEnd(): void {
    const log = this.engine.primary.log;
    this.#checkTerms(log);
    const last = log.at(-1);
    for (const node of this.#nodes) this.#checkHistory(node, log);
    if (!last || last.header.kind === "handover") this.violations.push("liveness: no leader at the end");
    const [delivered = 0] = this.#nodes
      .map(({ member }) => member.delivered.offset)
      .toSorted((a, b) => a - b);
    if (delivered < log.length - (this.#plan.isSlow ? 6 : 3))
      this.violations.push(`liveness: a node delivered ${delivered} of ${log.length} entries`);
    for (const { id, member } of this.#nodes)
      if (member.isForked) this.violations.push(`liveness: node ${id} is still forked`);
    if (this.#nodes.filter(({ isLeading }) => isLeading).length !== 1)
      this.violations.push("liveness: not exactly one leader at the end");
  }

  /** Checks I3: in the log's current epoch, a node delivered no other entries than the log has. */
  #checkHistory({ id, history }: SimulatedNode, log: readonly Entry[]): void {
    const epoch = log.at(-1)?.header.epoch;
    const other = history.find(
      (entry) => entry.header.epoch === epoch && log[entry.offset - 1]?.hash !== entry.hash,
    );
    if (other)
      this.violations.push(`I3: node ${id} delivered another entry ${other.offset} than the log has`);
  }

  /** Checks I1: no entry of an older term follows the start of a term. */
  #checkTerms(log: readonly Entry[]): void {
    let term = 0;
    for (const { header, offset } of log) {
      if (header.term < term && header.kind !== "base")
        this.violations.push(`I1: an entry of term ${header.term} after term ${term} at ${offset}`);
      term = header.kind === "base" ? header.term : Math.max(term, header.term);
    }
  }
}

class SimulatedNode {
  readonly id: number;
  readonly #world: Simulation;
  readonly #remembered: number;
  readonly #readEveryMs: number;
  member: Member;
  #life = 0;
  /** End of the node's pause. What it receives during a pause is handled then. */
  #pausedUntilMs = 0;
  #cutUntilMs = 0;
  #reads = 0;
  #readFrom = 0;
  isLeading = false;
  /** Entries that it delivered since its last start. */
  history: Entry[] = [];

  constructor(world: Simulation, id: number, isSlow: boolean) {
    this.#world = world;
    this.id = id;
    this.#remembered = isSlow ? Math.floor(world.random() * 8) : 600;
    this.#readEveryMs = isSlow && id === 0 ? 2_000 : 100;
    this.member = this.#newMember();
  }

  start(): void {
    this.#loop(20, 100, () => this.#do(this.member.tick(this.#nowMs)));
    this.#loop(20, this.#readEveryMs, () => this.#readOnce());
    this.#loop(200, 5_000, () => {
      if (this.isLeading && this.member.canAppend) this.#do(this.member.batch(Buffer.alloc(0), this.#nowMs));
    });
  }

  /** Stops the node at once, and starts it again later without memory. */
  restart(afterMs: number): void {
    this.#life += 1;
    this.history = [];
    this.isLeading = false;
    this.pause(afterMs);
    this.#readFrom = 0;
    this.member = this.#newMember();
    this.start();
  }

  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#nowMs + ms);
  }

  cut(ms: number): void {
    this.#cutUntilMs = Math.max(this.#cutUntilMs, this.#nowMs + ms);
  }

  /** Calls `run` once the node is not paused; never if it restarts before. */
  hear(run: () => void): void {
    const life = this.#life;
    const waitMs = this.#pausedUntilMs - this.#nowMs;
    if (waitMs > 0) this.#world.schedule.after(waitMs, () => life === this.#life && this.hear(run));
    else run();
  }

  get #nowMs(): number {
    return this.#world.schedule.nowMs;
  }

  #newMember(): Member {
    const world = this.#world;
    return new Member({
      id: `n${this.id}.${this.#life}`,
      random: world.random,
      remembered: this.#remembered,
      seal: (offset, header, body) => world.seal(offset, header, body),
      newEpoch: () => world.newEpoch(),
    });
  }

  #loop(leastMs: number, mostMs: number, run: () => void): void {
    const life = this.#life;
    const again = () => {
      if (life !== this.#life) return;
      this.#world.schedule.after(leastMs + this.#world.random() * (mostMs - leastMs), () =>
        this.hear(() => {
          if (life !== this.#life) return;
          run();
          again();
        }),
      );
    };
    again();
  }

  #do(effects: readonly Effect[]): void {
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    const world = this.#world;
    switch (effect.kind) {
      case "append":
        this.#append(effect.entry);
        break;
      case "commit":
        world.announce((node) => node.#do(node.member.committed(effect.position)));
        break;
      case "deliver":
        this.history.push(...effect.entries);
        for (const entry of effect.entries) world.noteDelivered(this, entry);
        break;
      case "reread":
      case "reload":
        this.#reads += 1;
        this.#readFrom = effect.kind === "reread" ? Math.max(0, effect.from.offset - 1) : 0;
        break;
      case "fork":
        world.announce((node) => node.#do(node.member.forked(effect.epoch)));
        break;
      case "lead":
        this.isLeading = true;
        break;
      case "follow":
        this.isLeading = false;
        break;
    }
  }

  /** Sends an entry until a server accepts it and a replica has it, or a server rejects it. */
  #append(entry: Entry): void {
    const life = this.#life;
    const world = this.#world;
    const retry = () => life === this.#life && this.#append(entry);
    const finish = (result: AppendResult) =>
      world.schedule.after(1 + world.random() * 10, () =>
        this.hear(() => life === this.#life && this.#do(this.member.appended(result, this.#nowMs))),
      );
    const server = this.#reachable();
    world.schedule.after(1 + world.random() * 10, () => {
      const isThere = server?.isUp && !server.isPaused && server.isPrimary;
      if (!server || !isThere) return void world.schedule.after(100, () => this.hear(retry));
      const result = append(server, entry);
      if (result.kind !== "appended") return finish(result);
      const waitEndsAtMs = this.#nowMs + 300;
      const wait = () => {
        if (world.isHasty || world.engine.isAcknowledged(server, entry)) {
          world.acknowledged.add(entry.hash);
          for (let offset = entry.offset - 1; offset > 0; offset--) {
            const hash = server.log[offset - 1]?.hash ?? "";
            if (world.acknowledged.has(hash)) break;
            world.acknowledged.add(hash);
          }
          finish(result);
        } else if (this.#nowMs > waitEndsAtMs) this.hear(retry);
        else world.schedule.after(5, wait);
      };
      wait();
    });
  }

  /** The server that this node is connected to. */
  #reachable(): EngineServer | undefined {
    if (this.#nowMs < this.#cutUntilMs) return undefined;
    const { engine } = this.#world;
    // If an old primary does not know yet that it was replaced, half of the calls still reach it.
    const stale = engine.servers.find((one) => one.isPrimary && one !== engine.primary);
    return stale && this.#world.random() < 0.5 ? stale : engine.primary;
  }

  /** Reads the entries after the last read one. Reports an idle log if they reach its end. */
  #readOnce(): void {
    const read = this.#reads;
    const life = this.#life;
    const world = this.#world;
    const server = this.#reachable();
    if (!server?.isUp || server.isPaused || !server.isPrimary) return;
    const from = this.#readFrom;
    const entries = server.log.slice(from, from + 20);
    const head = end(server);
    world.schedule.after(1 + world.random() * 10, () =>
      this.hear(() => {
        for (const entry of entries) {
          if (read !== this.#reads || life !== this.#life) return;
          this.#readFrom = entry.offset;
          this.#do(this.member.entry(entry, this.#nowMs));
        }
        if (read !== this.#reads || life !== this.#life) return;
        const isAll = (entries.at(-1)?.offset ?? 0) >= head.offset || entries.length === 0;
        if (isAll) this.#do(this.member.idle({ offset: head.offset, hash: head.hash }, this.#nowMs));
      }),
    );
  }
}
