import type { Notify } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { isoTime } from "../../base/lib/time/iso-time.ts";
import { MINUTE_MS, SECOND_MS, startOf } from "../../base/lib/time/time.ts";
import type { MarketEvent } from "../../base/market/index.ts";
import type { Filling } from "../../gateway/source/index.ts";
import { BlockPace } from "./block-pace.ts";
import type { ChainFeedOptions } from "./chain-feed.ts";
import type { EvmBlock } from "./evm-block.ts";
import { finalBlocks } from "./final-blocks.ts";
import type { LockTracker } from "./locks/lock-tracker.ts";
import { MULTICALL3, type Network } from "./network.ts";
import { PastFill, paced } from "./past-fill.ts";
import { persist } from "./persist.ts";
import { PoolLookup } from "./pool-lookup.ts";
import { BlockTranslator, type ReadBlock } from "./pools/block-translator.ts";
import { WORTH_WINDOW_MS } from "./pools/usd-prices.ts";
import { BlockReader } from "./rpc/block-reader.ts";
import { ContractReader } from "./rpc/contract-reader.ts";
import { EndpointPool } from "./rpc/endpoint-pool.ts";
import { FactStore } from "./rpc/fact-store.ts";
import { findBlock } from "./rpc/find-block.ts";
import { RpcFailure } from "./rpc/rpc-failure.ts";

/**
 * How far before the head a feed starts by default. Short, because the present must not wait for
 * the past. An agreed head that is older counts as old.
 */
export const PRESENT_MS = 90 * SECOND_MS;
/**
 * Maximum gap since a previous feed that is read before the present. Reading a longer one would
 * take more than seconds.
 */
const MAX_RESUME_MS = 3 * MINUTE_MS;
const BACKFILL_MS = 10 * MINUTE_MS;
/**
 * Maximum requests to each public endpoint in five minutes. BNB Chain's allow 10,000; the others
 * publish no limit.
 */
const PUBLIC_MAX_REQUESTS = 6_000;
const PROGRESS_EVERY_MS = 10 * SECOND_MS;
/**
 * While the feed is at least this far behind, it reports that instead of the progress of the past.
 */
const BEHIND_MS = 60 * SECOND_MS;
/** How long the start waits for endpoints that have not responded, once one has. */
const PATIENCE_MS = 2 * SECOND_MS;
/** Pools of past blocks that arrive within this time of each other are looked up together. */
const PAST_GAP_MS = 2 * SECOND_MS;
/** Concurrent reads of past blocks. Leaves most of an endpoint's limit to the present. */
const PAST_READS = 2;
/**
 * Pause between past blocks. It keeps the requests for a fast chain's past and present within the
 * 10,000 in five minutes that BSC's public endpoints allow.
 */
const PAST_PAUSE_MS = 100;
/**
 * A feed that is at most this far behind counts as caught up: the newest final blocks wait for a
 * second endpoint and, on Avalanche, for a later block that settles them.
 */
const AT_HEAD_MS = 10 * SECOND_MS;
/** The past is read while at most this many final blocks are unpublished, which are being read. */
const IDLE_BLOCKS = 2;

/** Where a feed starts. Times are event time. */
interface Start {
  /** The first block of the present. */
  readonly from: number;
  readonly fromMs: number;
  /** Time of the head from which the start was calculated. */
  readonly headMs: number;
  /** Start of the past that is read while the present is followed; `fromMs` if there is none. */
  readonly pastMs: number;
  /** Whether the feed continues a previous one without a gap. */
  readonly isResumed: boolean;
}

/** Implements createChainFeed. Ends when the signal aborts. */
export class ChainFollower {
  readonly endpoints: EndpointPool;
  readonly #options: ChainFeedOptions;
  readonly #signal: AbortSignal;
  readonly #notify: Notify;
  readonly #facts: FactStore;
  readonly #random: () => number;
  #lastSecond: number | undefined;
  #progressAt = Number.NEGATIVE_INFINITY;
  #latest: EvmBlock | undefined;
  readonly #pace = new BlockPace();
  /** The newest final block that an endpoint last claimed. */
  #head = -1;
  #start: Start | undefined;
  #pastFill: PastFill | undefined;
  #isFilled = false;
  /** Trades of replacement blocks: those dropped so far, and those of them that were logged. */
  readonly replaced = { dropped: 0, logged: 0 };

  constructor(options: ChainFeedOptions, signal: AbortSignal) {
    const { network, urls = [], clock, notify = () => undefined } = options;
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#signal = signal;
    this.#notify = notify;
    this.#facts = new FactStore(options.factsFile, clock, notify);
    // Continue second by second, because an engine processes each second.
    if (options.resumeAfterMs !== undefined)
      this.#lastSecond = Math.ceil(options.resumeAfterMs / SECOND_MS) - 1;
    this.endpoints = new EndpointPool({
      urls: urls.length > 0 ? urls : network.rpcUrls,
      network,
      clock,
      ...(urls.length > 0 ? {} : { maxRequests: PUBLIC_MAX_REQUESTS }),
      ...(options.pollEveryMs === undefined ? {} : { pollEveryMs: options.pollEveryMs }),
      notify,
    });
  }

  get filling(): Filling | undefined {
    if (!this.#start) return undefined;
    const { fromMs, headMs, pastMs } = this.#start;
    const presentMs = Math.max(0, Math.min(headMs, this.#latest?.atMs ?? fromMs) - fromMs);
    const filledMs = this.#pastFill?.readMs ?? (this.#isFilled ? fromMs - pastMs : 0);
    const [readMs, ofMs] = [presentMs + filledMs, headMs - pastMs];
    return readMs < ofMs ? { readMs, ofMs } : undefined;
  }

  /**
   * How far the feed is behind the endpoint that is furthest; 0 up to {@link AT_HEAD_MS}. At most
   * the age of the latest block, because a host may claim any number of later ones.
   */
  get behindMs(): number {
    const { finalHead } = this.endpoints;
    // While every endpoint rests, none claims a head.
    if (finalHead >= 0) this.#head = finalHead;
    const nowMs = this.#options.clock.now();
    const behindMs = Math.min(this.#pace.msTo(this.#head), nowMs - (this.#latest?.atMs ?? nowMs));
    return behindMs > AT_HEAD_MS ? behindMs : 0;
  }

  close(): void {
    this.#facts.close();
  }

  async *events(): AsyncGenerator<MarketEvent> {
    const pool = this.endpoints;
    void pool.run(this.#signal);
    while (pool.finalHead < 0) {
      if (pool.allWrongChain) throw new Error(`no endpoint serves chain ${this.#options.network.chainId}`);
      await pool.changed(SECOND_MS, this.#signal);
    }
    const network = await this.#checked();
    const contracts = this.#contracts(network);
    const translator = new BlockTranslator(network);
    const { clock } = this.#options;
    // Otherwise the first endpoint to respond would decide alone where the feed starts.
    const patientUntil = clock.monotonic() + PATIENCE_MS;
    while (pool.isUndecided && clock.monotonic() < patientUntil)
      await pool.changed(PATIENCE_MS / 10, this.#signal);
    const start = await this.#persist(() => this.#findStart());
    this.#start = start;
    const lookup = this.#lookUp(contracts, translator);
    await lookup.learnAnchors(start.from - 1);
    const reader = new BlockReader({ pool, clock, notify: this.#notify });
    const reading = { pool, reader, clock, notify: this.#notify, random: this.#random };
    const blocks = finalBlocks({ ...reading, from: start.from }, this.#signal);
    for await (const { block, read, isReplacement } of lookup.known(blocks)) {
      const events = this.#translate(translator, read, isReplacement);
      this.replaced.dropped = translator.repeated;
      if (isReplacement || this.#wasPublished(block)) continue;
      const unlogged = this.replaced.dropped - this.replaced.logged;
      if (unlogged > 0) this.#notify("warn", `dropped ${unlogged} trades of replaced blocks`);
      this.replaced.logged += unlogged;
      const isFirst = this.#latest === undefined;
      this.#latest = block;
      this.#pace.follow(block);
      yield* this.#ticks(block.atMs);
      const at = startOf(SECOND_MS, block.atMs);
      if (isFirst && !start.isResumed)
        yield { kind: "observed", at, group: network.group, since: Math.min(block.atMs, start.fromMs) };
      yield* events;
      if (isFirst && start.pastMs < start.fromMs)
        this.#fill({ network, contracts, locks: translator.locks }, reading);
      yield* this.#past(events, network.group);
      this.#report(block);
    }
  }

  #contracts(network: Network): ContractReader {
    return new ContractReader({
      network,
      pool: this.endpoints,
      facts: this.#facts,
      clock: this.#options.clock,
      notify: this.#notify,
    });
  }

  /**
   * Returns the network without contracts that do not exist on the chain. Throws if Multicall3, all
   * factories or all quote tokens are missing.
   */
  async #checked(): Promise<Network> {
    const { network } = this.#options;
    const reader = this.#contracts(network);
    const named = [...network.factories, ...network.quotes];
    const addresses = [MULTICALL3, ...named.map(({ address }) => address)];
    const look = () => this.#persist(() => reader.haveCode(addresses, this.#signal));
    let present = await look();
    if (present.size < addresses.length) {
      // More endpoints may have responded meanwhile.
      await this.#options.clock.sleep(SECOND_MS, this.#signal);
      present = await look();
    }
    if (!present.has(MULTICALL3)) throw new Error(`${network.name} has no Multicall3 at ${MULTICALL3}`);
    const exists = ({ address }: { readonly address: string }) => present.has(address);
    for (const one of named) {
      const words = "name" in one ? `the factory of ${one.name}` : `the token ${one.symbol}`;
      if (!exists(one))
        this.#notify("warn", `${words} does not exist at ${one.address} on ${network.name}; ignoring it`);
    }
    const factories = network.factories.filter(exists);
    const quotes = network.quotes.filter(exists);
    if (factories.length === 0 || quotes.length === 0) {
      const missing = factories.length === 0 ? "factories" : "quote tokens";
      throw new Error(`none of the followed ${missing} exists on ${network.name}`);
    }
    return { ...network, factories, quotes };
  }

  /** Finds the first block. Reports a gap since the previous feed that takes too long to read. */
  async #findStart(): Promise<Start> {
    const { network, backfillMs = BACKFILL_MS, presentMs = PRESENT_MS, resumeAfterMs } = this.#options;
    const timesOf = (headMs: number) => {
      const isShort = resumeAfterMs !== undefined && headMs - resumeAfterMs <= MAX_RESUME_MS;
      // A token's value depends on the previous minute, and the events depend on that value.
      const fromMs = isShort ? resumeAfterMs - WORTH_WINDOW_MS : headMs - Math.min(backfillMs, presentMs);
      const pastMs = isShort ? fromMs : Math.max(headMs - backfillMs, resumeAfterMs ?? 0);
      return { headMs, fromMs, pastMs: Math.min(pastMs, fromMs) };
    };
    const { found, highestAtMs } = await this.#findAgreed((headMs) => timesOf(headMs).fromMs);
    const times = timesOf(highestAtMs);
    const isResumed = resumeAfterMs !== undefined && times.fromMs <= resumeAfterMs;
    if (resumeAfterMs !== undefined && !isResumed) {
      const [since, past] = [resumeAfterMs, times.pastMs].map((ms) => isoTime(ms));
      this.#notify(
        "warn",
        `${network.name} was not followed since ${since}; starting at the present and reading the past since ${past} meanwhile`,
      );
      this.#lastSecond = undefined;
    }
    return { ...times, from: found, isResumed };
  }

  /**
   * Finds the first block at or after a moment that depends on the head's time. The head is the
   * highest that two hosts claim, or the claim of the only host. A higher claim of a single host
   * counts only if the agreed head is old, because then the other hosts are behind, or if no agreed
   * head can be searched.
   */
  async #findAgreed(
    momentOf: (headMs: number) => number,
  ): Promise<{ readonly found: number; readonly highestAtMs: number }> {
    const { agreedHeads, finalHeads, finalHead } = this.endpoints;
    let old: { readonly found: number; readonly highestAtMs: number } | undefined;
    let last = new RpcFailure("failed", "no endpoint is available");
    // An endpoint may claim blocks that no other has. Then try the next lower claim.
    for (const highest of new Set([...agreedHeads, ...finalHeads])) {
      try {
        const { number: found, highestAtMs } = await findBlock(
          { pool: this.endpoints, highest },
          momentOf,
          this.#signal,
        );
        const isOld = this.#options.clock.now() - highestAtMs > PRESENT_MS && highest < finalHead;
        if (!isOld) return { found, highestAtMs };
        old ??= { found, highestAtMs };
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        last = error;
      }
    }
    if (old) return old;
    throw last;
  }

  /** Starts to read the past while the present is followed. */
  #fill(
    { network, contracts, locks }: { network: Network; contracts: ContractReader; locks: LockTracker },
    reading: Omit<Parameters<typeof finalBlocks>[0], "from">,
  ): void {
    const pool = this.endpoints;
    const { from = 0, fromMs = 0, pastMs = 0 } = this.#start ?? {};
    const translator = new BlockTranslator(network);
    const lookup = this.#lookUp(contracts, translator);
    const open = async (pauseWhileBusy: () => Promise<void>) => {
      const pause = async () => {
        await this.#options.clock.sleep(PAST_PAUSE_MS, this.#signal);
        await pauseWhileBusy();
      };
      const search = { pool, highest: from - 1 };
      const { number: first } = await this.#persist(() => findBlock(search, () => pastMs, this.#signal));
      await lookup.learnAnchors(first - 1);
      const past = { ...reading, from: first, to: from - 1, readAhead: PAST_READS };
      return lookup.known(paced(finalBlocks(past, this.#signal), pause), PAST_GAP_MS);
    };
    this.#pastFill = new PastFill({
      pool,
      open,
      fromMs: pastMs,
      toMs: fromMs,
      translate: (read, isReplacement) => this.#translate(translator, read, isReplacement),
      isIdle: () => pool.finalHead - (this.#latest?.number ?? 0) <= IDLE_BLOCKS,
    });
    const done = this.#pastFill.run(this.#signal).then(() => locks.adopt(translator.locks));
    done.catch((error) => {
      if (!this.#signal.aborted) this.#notify("warn", `stopped reading the past: ${messageOf(error)}`);
      this.#endFill();
    });
  }

  #endFill(): void {
    this.#pastFill = undefined;
    this.#isFilled = true;
  }

  /**
   * Reports the present's events to the reader of the past. Yields the events of the past that were
   * read since the previous block and, at the end, from when on the market was observed.
   */
  *#past(events: readonly MarketEvent[], group: Network["group"]): Generator<MarketEvent> {
    const { pastMs = 0 } = this.#start ?? {};
    const fill = this.#pastFill;
    if (!fill || this.#lastSecond === undefined) return;
    for (const event of events) fill.note(event);
    const at = this.#lastSecond * SECOND_MS;
    yield* fill.take(at);
    if (!fill.isDone) return;
    this.#endFill();
    yield { kind: "observed", at, group, since: pastMs };
    this.#notify("info", `${this.#options.network.name} has read the past since ${isoTime(pastMs)}`);
  }

  #lookUp(contracts: ContractReader, translator: BlockTranslator): PoolLookup {
    return new PoolLookup({
      pool: this.endpoints,
      contracts,
      translator,
      clock: this.#options.clock,
      signal: this.#signal,
      persist: (work) => this.#persist(work),
    });
  }

  /**
   * Applies a block. Returns its events; none if a previous feed published them, or it replaces a
   * block, because most of its content was published with that one.
   */
  #translate(translator: BlockTranslator, read: ReadBlock, isReplacement: boolean): MarketEvent[] {
    if (!isReplacement && !this.#wasPublished(read)) return translator.translate(read);
    translator.absorb(read, isReplacement);
    return [];
  }

  #wasPublished({ atMs }: Pick<EvmBlock, "atMs">): boolean {
    return atMs < (this.#options.resumeAfterMs ?? Number.NEGATIVE_INFINITY);
  }

  /**
   * Emits a clock event for each whole second up to a block's time, because no earlier block can
   * follow. A second's events come after its clock event.
   */
  *#ticks(atMs: number): Generator<MarketEvent> {
    const second = Math.floor(atMs / SECOND_MS);
    for (let tick = (this.#lastSecond ?? second - 1) + 1; tick <= second; tick++)
      yield { kind: "clock", at: tick * SECOND_MS };
    this.#lastSecond = Math.max(this.#lastSecond ?? second, second);
  }

  #report(block: EvmBlock): void {
    const { clock, network } = this.#options;
    const { finalHead } = this.endpoints;
    const behindMs = this.#pace.msTo(finalHead);
    const filling = behindMs < BEHIND_MS && this.#pastFill ? this.filling : undefined;
    const now = clock.monotonic();
    if ((behindMs < BEHIND_MS && !filling) || now - this.#progressAt < PROGRESS_EVERY_MS) return;
    this.#progressAt = now;
    if (filling) {
      const [read, of] = [filling.readMs, filling.ofMs].map((ms) => Math.floor(ms / SECOND_MS));
      this.#notify("info", `reading the past of ${network.name}: ${read} of ${of} s`);
      return;
    }
    const place = `block ${block.number}, ${finalHead - block.number} blocks (about ${Math.round(behindMs / MINUTE_MS)} minutes)`;
    this.#notify("info", `${network.name} is at ${place} behind`);
  }

  #persist<T>(work: () => Promise<T>): Promise<T> {
    const [pool, clock, random] = [this.endpoints, this.#options.clock, this.#random];
    return persist(work, { pool, clock, random, notify: this.#notify, signal: this.#signal });
  }
}
