import { createClient, http, webSocket } from "viem";
import { z } from "zod";
import type { Clock } from "../../../lib/time/clock.ts";
import { SECOND_MS } from "../../../lib/time/time.ts";
import { type RequestOutcome, ServiceTally } from "../../service/service-tally.ts";
import { Quantity } from "../evm-block.ts";
import { type RpcTrouble, readTrouble } from "./rpc-trouble.ts";

/** What an endpoint is made with. */
interface EndpointOptions {
  /** `http(s)://` is asked; `ws(s)://` tells new heads by itself besides. */
  readonly url: string;
  readonly clock: Clock;
  /** How long an answer may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Told whenever the endpoint's head has moved. */
  readonly onHead: () => void;
}

/** A contract that fails is an answer. */
const OUTCOMES = {
  rate: "refused",
  refused: "refused",
  reverted: "good",
  failed: "failed",
} as const satisfies Record<RpcTrouble["kind"], RequestOutcome>;

const NewHead = z.object({ result: z.object({ number: Quantity }) });

const MAX_REST_MS = 5 * SECOND_MS;
/** At first an endpoint is asked as fast as it answers; the first complaint sets this pause between two requests. */
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 2 * SECOND_MS;
/** What a good answer leaves of the pause. */
const RECOVERY = 0.7;

/**
 * One node, or a provider's many behind one address. Keeps its pace under what the provider bears (a complaint doubles the pause between requests,
 * good answers wear it down), and rests after failures, longer with each in a row.
 */
export class Endpoint {
  /** Its host, for people: what follows in the address may be a key. */
  readonly name: string;
  readonly tellsHeads: boolean;
  readonly tally: ServiceTally;
  readonly #options: EndpointOptions;
  readonly #client;
  #head = -1;
  #strikes = 0;
  #misses = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #restUntil = 0;
  #pauseMs = 0;
  #nextAt = 0;

  constructor(options: EndpointOptions) {
    const { url, timeoutMs } = options;
    this.#options = options;
    this.name = new URL(url).host;
    this.tally = new ServiceTally(options.clock);
    this.tellsHeads = /^wss?:/.test(url);
    this.#client = createLine(url, timeoutMs, this.tellsHeads);
  }

  /** The highest block that it claims to have; −1 before it said anything. */
  get head(): number {
    return this.#head;
  }

  /** Failures in a row, of its answers and of its reachability. */
  get strikes(): number {
    return this.#strikes + this.#misses;
  }

  /** It failed lately, and is left alone for a while. */
  get isResting(): boolean {
    return this.#options.clock.monotonic() < this.#restUntil;
  }

  /** Asks in its pace. Rejects with RpcTrouble, or with the signal's reason. */
  async ask(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    const { clock } = this.#options;
    const now = clock.monotonic();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#pauseMs;
    if (at > now) await clock.sleep(at - now, signal);
    signal.throwIfAborted();
    const askedAt = clock.monotonic();
    this.tally.asked(askedAt - now);
    try {
      // The types know each method's own parameters; here they are a caller's.
      const answer: unknown = await this.#client.request({ method, params } as never);
      this.tally.ended("good");
      this.#pauseMs = this.#pauseMs < 1 ? 0 : this.#pauseMs * RECOVERY;
      return answer;
    } catch (error) {
      const trouble = readTrouble(error);
      this.tally.ended(OUTCOMES[trouble.kind]);
      if (trouble.kind === "rate") this.#slowDown(trouble, askedAt);
      throw trouble;
    }
  }

  /** It answered, and what it said held. */
  markSuccess(): void {
    this.#strikes = 0;
    this.#restUntil = 0;
  }

  /** It failed, or what it said did not hold: it rests. */
  markFailure(): void {
    this.#strikes += 1;
    this.#rest();
  }

  /** Asks for the head. Yields what is wrong, if anything is: it then rests, unless it was only asked too often. */
  async look(signal: AbortSignal): Promise<RpcTrouble | undefined> {
    try {
      this.noteHead(Quantity.parse(await this.ask("eth_blockNumber", [], signal)));
      this.#misses = 0;
      return undefined;
    } catch (error) {
      const trouble = readTrouble(error);
      if (trouble.kind === "rate" || signal.aborted) return undefined;
      this.#misses += 1;
      this.#rest();
      return trouble;
    }
  }

  /** It says that this is its head now. A head may go back: blocks are replaced, and endpoints are many nodes. */
  noteHead(head: number): void {
    if (head === this.#head) return;
    this.#head = head;
    this.#options.onHead();
  }

  /** Listens for heads until the signal aborts, where it tells them; then the line is closed. Failures are strikes. */
  async listen(signal: AbortSignal): Promise<void> {
    const { transport } = this.#client;
    if (!("subscribe" in transport)) return;
    const close = () =>
      void transport
        .getRpcClient()
        .then((line) => line.close())
        .catch(() => undefined);
    signal.addEventListener("abort", close, { once: true });
    const onData = (message: unknown) => {
      const read = NewHead.safeParse(message);
      if (read.success) this.noteHead(read.data.result.number);
    };
    try {
      await transport.subscribe({ params: ["newHeads"], onData, onError: () => this.markFailure() });
      if (signal.aborted) close();
      // Nobody told of blocks that came before the line was listened to.
      else await this.look(signal);
    } catch {
      if (!signal.aborted) this.markFailure();
    }
  }

  #rest(): void {
    const restMs = Math.min(MAX_REST_MS, (SECOND_MS / 8) * 2 ** Math.min(20, this.strikes));
    this.#restUntil = Math.max(this.#restUntil, this.#options.clock.monotonic() + restMs);
  }

  /** Complaints about what was asked before the pace was slowed say nothing new. */
  #slowDown({ retryAfterMs = 0 }: RpcTrouble, askedAt: number): void {
    const now = this.#options.clock.monotonic();
    if (askedAt > this.#slowedAt) {
      this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
      this.#slowedAt = now;
    }
    this.#nextAt = Math.max(this.#nextAt, now + Math.max(this.#pauseMs, retryAfterMs));
    // The others are asked meanwhile; it is no failure.
    this.#restUntil = Math.max(this.#restUntil, now + retryAfterMs);
  }
}

function createLine(url: string, timeout: number, isSocket: boolean) {
  if (!isSocket) return createClient({ transport: http(url, { retryCount: 0, timeout }) });
  const reconnect = { attempts: Number.POSITIVE_INFINITY, delay: 2 * SECOND_MS };
  return createClient({ transport: webSocket(url, { retryCount: 0, timeout, reconnect }) });
}
