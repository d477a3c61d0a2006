import type { Notify } from "../../../base/lib/notify.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/lib/time/time.ts";
import { waitAtMost } from "../../../base/lib/time/wait-at-most.ts";
import { type EvmBlock, logsOf, timeOf } from "../evm-block.ts";
import type { Endpoint } from "./endpoint.ts";
import { EndpointBlocks, keyOf, type ProvedBlock } from "./endpoint-blocks.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { CONFIRM_MS } from "./hedges.ts";
import { invalidAnswer, RpcFailure } from "./rpc-failure.ts";

interface BlockReaderOptions {
  readonly pool: EndpointPool;
  readonly clock: Clock;
  readonly notify: Notify;
}

/** How far a block's time may be ahead of this machine's clock. */
const MAX_AHEAD_MS = HOUR_MS;
/**
 * A single endpoint could invent the newest blocks. So if no other endpoint has a block yet, the
 * reader waits for one that is at most {@link IN_STEP_BLOCKS} behind it and whose final head moved
 * within this time.
 */
const MOVING_MS = 30 * SECOND_MS;
const IN_STEP_BLOCKS = 20;
/**
 * If no host answers in time of two or more that should confirm a block, the reader waits for them
 * this long before it accepts blocks from one endpoint. A pause of a minute starts a new wait.
 */
const SILENCE_MS = 10 * SECOND_MS;
/**
 * A block whose receipts match its endpoint's headers. Blocks with equal keys match the same
 * headers.
 */
interface VerifiedBlock extends Pick<ProvedBlock, "proof"> {
  readonly block: EvmBlock;
  readonly endpoint: Endpoint;
  readonly key: string;
}

/** Reads final blocks that match their headers and on which endpoints agree. */
export class BlockReader {
  readonly #options: BlockReaderOptions;
  readonly #blocks = new Map<Endpoint, EndpointBlocks>();
  readonly #blamedAt = new Map<Endpoint, number>();
  /** Monotonic times of the first and last block that no host of several confirmed in time. */
  #silence = { since: 0, last: Number.NEGATIVE_INFINITY };
  /** Monotonic times at which endpoints confirmed nothing in time, until they do again. */
  readonly #silentAt = new Map<Endpoint, number>();
  /** Whether an endpoint returned another block after the time to confirm it had passed. */
  #isDisputed = false;
  /** Why the last block could not be read, which endpoints that rest now do not repeat. */
  #cause: string | undefined;

  constructor(options: BlockReaderOptions) {
    this.#options = options;
  }

  /**
   * Returns the block at that height from the best endpoint. If another endpoint responds, it must
   * have the same block. Rejects with RpcFailure: `pending` if the block is not settled or no other
   * endpoint has it or confirmed it yet; else if no endpoint has it, or two disagree on it or on an
   * earlier one. Afterwards, call {@link readMostCommon}. An endpoint that failed or returned an
   * invalid block rests, so that another attempt may succeed.
   */
  async read(number: number, signal: AbortSignal): Promise<EvmBlock> {
    const { pool } = this.#options;
    const read = async (endpoint: Endpoint) => {
      const reading = this.#readFrom(endpoint, number, signal);
      const confirming = this.#confirm(endpoint, number, reading, signal).catch(asFailure);
      const [answer, verdict] = await Promise.all([reading, confirming]);
      if (answer instanceof RpcFailure) throw answer;
      return { block: answer.block, verdict };
    };
    const endpoints = () => pool.usable(number);
    if (endpoints().length === 0) throw this.#noneHas(number);
    const { block, verdict } = await pool.hedges.firstOf(endpoints, signal, read);
    if (verdict instanceof RpcFailure) throw verdict;
    if (verdict === false || this.#isDisputed)
      throw new RpcFailure("failed", `endpoints disagree on block ${number}`);
    return block;
  }

  /**
   * Queries all usable endpoints for the block at that height, and returns the one with the parent
   * `parentHash` (`undefined`: any) that most of them have. Endpoints that returned another one
   * rest, and are asked last for a minute. Returns `undefined` if endpoints responded, but none
   * with that parent, or more of them with another one. Rejects with RpcFailure on a tie, if no
   * endpoint has the block, or if the only response is contradicted or not yet confirmed.
   */
  async readMostCommon(
    number: number,
    parentHash: string | undefined,
    signal: AbortSignal,
  ): Promise<EvmBlock | undefined> {
    // Clear the cache: an earlier response may be the disputed one.
    this.#blocks.clear();
    const { pool } = this.#options;
    const reads = pool.usable(number).map((endpoint) => this.#readFrom(endpoint, number, signal));
    const successes = reads.map(async (read) => {
      if ((await read) instanceof RpcFailure) throw await read;
    });
    await Promise.any(successes).catch(() => undefined);
    let answers = await Promise.all(reads.map((read) => this.#inTime(read, signal)));
    // A late answer decides a tie, and a dispute in which only one endpoint has answered.
    if (isTie(answers) || (this.#isDisputed && blocksOf(answers).length === 1))
      answers = await Promise.all(reads);
    const blocks = blocksOf(answers);
    const [only] = blocks.length === 1 ? blocks : [];
    if (only && (await this.#confirm(only.endpoint, number, Promise.resolve(only), signal)) === false)
      throw new RpcFailure("failed", `endpoints disagree on block ${number}`);
    if (blocks.length === 0) {
      const isPending = (answer: unknown) => answer instanceof RpcFailure && answer.kind === "pending";
      throw answers.find(isPending) ?? this.#noneHas(number);
    }
    const isChild = ({ block }: VerifiedBlock) => parentHash === undefined || block.parentHash === parentHash;
    const groups = groupsOf(blocks);
    const [largest = [], next = []] = groups.filter((group) => group.every(isChild));
    if (largest.length < (groups[0]?.length ?? 0)) return undefined;
    if (largest.length === next.length) {
      throw new RpcFailure(
        "failed",
        `endpoints disagree on block ${number}, and no version is the most common`,
      );
    }
    this.#isDisputed = false;
    for (const { endpoint, key } of blocks) {
      if (key === largest[0]?.key) endpoint.markSuccess();
      else {
        endpoint.markRefusal();
        this.#blame(endpoint, `returned block ${number}, which differs from that of most endpoints`);
      }
    }
    return largest[0]?.block;
  }

  async #readFrom(
    endpoint: Endpoint,
    number: number,
    signal: AbortSignal,
  ): Promise<VerifiedBlock | RpcFailure> {
    try {
      const { header, receipts, proof } = await this.#blocksOf(endpoint).proved(number, signal);
      const { hash, parentHash } = header;
      const atMs = timeOf(header);
      if (atMs > this.#options.clock.now() + MAX_AHEAD_MS)
        throw new RpcFailure(
          "failed",
          `returned block ${number} with a future time, ${new Date(atMs).toISOString()}; check this machine's clock`,
        );
      endpoint.markSuccess();
      this.#cause = undefined;
      const block = { number, hash, parentHash, atMs, logs: logsOf(receipts) };
      return { block, endpoint, proof, key: proof.map(keyOf).join() };
    } catch (error) {
      signal.throwIfAborted();
      const failure = invalidAnswer(error);
      if (failure.kind === "rate" || failure.kind === "refused") endpoint.markRefusal();
      if (failure.kind !== "rate" && failure.kind !== "pending") this.#blame(endpoint, failure.message);
      const named = failure.of(endpoint.name);
      this.#cause = named.words;
      return named;
    }
  }

  /**
   * Returns whether the first other endpoint that can tell has the same block and, if later headers
   * prove it, the same headers; `undefined` if none can tell or `reading` failed. Rejects with
   * RpcFailure, `pending`, if an endpoint lacks the block but is close behind (see
   * {@link MOVING_MS}).
   */
  async #confirm(
    first: Endpoint,
    number: number,
    reading: Promise<VerifiedBlock | RpcFailure>,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const { pool, clock } = this.#options;
    const isInTime = ({ tally }: Endpoint) => tally.latencyMs <= first.tally.latencyMs + CONFIRM_MS;
    const isElsewhere = ({ host }: Endpoint) => host !== first.host;
    let others = pool.usable(0).filter((other) => other !== first);
    // Skip an endpoint that most others contradicted, or a slow one, only if another host remains:
    // a single endpoint could invent blocks, and the last slow answer may have been an exception.
    for (const isGood of [({ isRefusing }: Endpoint) => !isRefusing, isInTime]) {
      const good = others.filter(isGood);
      if (good.some(isElsewhere)) others = good;
    }
    // Ask other hosts first, because all addresses of one host are one provider. Also ask endpoints
    // that do not report the block as final yet: near the head, they usually have it already.
    const rankOf = ({ host, slowSteps, finalHead }: Endpoint) =>
      16 * Number(host === first.host) + 2 * slowSteps + Number(finalHead < number);
    let mayFollow = false;
    const silent = new Set<string>();
    for (const other of others.toSorted((a, b) => rankOf(a) - rankOf(b))) {
      const comparing = this.#isSame(other, number, reading, signal);
      comparing.catch(() => undefined);
      if ((await reading) instanceof RpcFailure) return undefined;
      const isSame = await this.#verdictOf(first, other, comparing, signal);
      if (typeof isSame === "boolean") return isSame;
      if (isSame === undefined && isElsewhere(other)) silent.add(other.host);
      const isInStep = number - other.finalHead <= IN_STEP_BLOCKS && other.hasMovedWithin(MOVING_MS);
      mayFollow ||= isSame === "absent" && isInStep;
    }
    if (mayFollow || (silent.size > 1 && this.#awaitsSilent(clock.monotonic())))
      throw new RpcFailure("pending", `so far only one endpoint has block ${number}`);
    return undefined;
  }

  /**
   * Waits for a comparison in time, but only once a minute for an endpoint that stays silent. If it
   * ends later with a difference, the next read fails.
   */
  async #verdictOf<T>(
    first: Endpoint,
    other: Endpoint,
    comparing: Promise<T>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const { clock } = this.#options;
    const askedAt = clock.monotonic();
    const isSilent = askedAt - (this.#silentAt.get(other) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS;
    const verdict = isSilent ? undefined : await this.#inTime(comparing, signal);
    if (verdict !== undefined) return verdict;
    if (!isSilent) this.#silentAt.set(other, askedAt);
    const noteLate = (late: T) => {
      // A dispute that was decided since then needs no other decision.
      if (late === false && !first.isRefusing && !other.isRefusing) this.#isDisputed = true;
      if (clock.monotonic() - askedAt < CONFIRM_MS) this.#silentAt.delete(other);
    };
    comparing.then(noteLate, () => undefined);
    return undefined;
  }

  /** Records that several hosts are silent. Returns whether to wait for them: see SILENCE_MS. */
  #awaitsSilent(now: number): boolean {
    const { since, last } = this.#silence;
    this.#silence = { since: now - last > MINUTE_MS ? now : since, last: now };
    return now - this.#silence.since < SILENCE_MS;
  }

  /**
   * Returns whether an endpoint has the same block. `absent`: it does not report the block as final
   * and lacks the block or a header that proves it. `failed`: it failed, or `reading` did.
   */
  async #isSame(
    other: Endpoint,
    number: number,
    reading: Promise<VerifiedBlock | RpcFailure>,
    signal: AbortSignal,
  ): Promise<boolean | "absent" | "failed"> {
    const mustHave = other.finalHead >= number;
    const blocks = this.#blocksOf(other);
    try {
      // Read the header while the first endpoint reads the block.
      const [own, answer] = await Promise.all([blocks.header(number, signal), reading]);
      if (answer instanceof RpcFailure) return "failed";
      if (!own && mustHave) throw new RpcFailure("failed", `has no block ${number}`);
      const proof = await Promise.all(
        answer.proof.map(({ header }) =>
          header.number === number ? own : blocks.header(header.number, signal),
        ),
      );
      if (!mustHave && proof.includes(undefined)) return "absent";
      return answer.proof.every((evidence, index) => {
        const header = proof[index];
        return header !== undefined && keyOf({ ...evidence, header }) === keyOf(evidence);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (invalidAnswer(error).kind !== "rate") other.markFailure();
      return "failed";
    }
  }

  /** Waits a limited time for an endpoint once another one has responded. */
  #inTime<T>(answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    return waitAtMost(answer, CONFIRM_MS, this.#options.clock, signal);
  }

  #blocksOf(endpoint: Endpoint): EndpointBlocks {
    const blocks = this.#blocks.get(endpoint) ?? new EndpointBlocks(endpoint);
    this.#blocks.set(endpoint, blocks);
    return blocks;
  }

  #noneHas(number: number): RpcFailure {
    const words = `no endpoint has block ${number}`;
    return new RpcFailure("failed", this.#cause === undefined ? words : `${words}: ${this.#cause}`);
  }

  /** Reports an endpoint that fails again and again once, until it has worked for a minute. */
  #blame(endpoint: Endpoint, words: string): void {
    const now = this.#options.clock.monotonic();
    const before = this.#blamedAt.get(endpoint) ?? Number.NEGATIVE_INFINITY;
    this.#blamedAt.set(endpoint, now);
    endpoint.markFailure();
    this.#blocks.delete(endpoint);
    if (now - before > MINUTE_MS) this.#options.notify("warn", `${endpoint.name} ${words}`);
  }
}

/** Returns a failure as a value. Rethrows other errors. */
function asFailure(error: unknown): RpcFailure {
  if (error instanceof RpcFailure) return error;
  throw error;
}

type Answers = readonly (VerifiedBlock | RpcFailure | undefined)[];

function blocksOf(answers: Answers): readonly VerifiedBlock[] {
  return answers.flatMap((answer) => (answer === undefined || answer instanceof RpcFailure ? [] : [answer]));
}

/** Groups equal blocks, the most common first. */
function groupsOf(blocks: readonly VerifiedBlock[]): readonly (readonly VerifiedBlock[])[] {
  return [...Map.groupBy(blocks, ({ key }) => key).values()].toSorted((a, b) => b.length - a.length);
}

function isTie(answers: Answers): boolean {
  const [largest = [], next = []] = groupsOf(blocksOf(answers));
  return largest.length > 0 && largest.length === next.length;
}
