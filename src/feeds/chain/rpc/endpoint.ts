import { z } from "zod";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { MINUTE_MS, SECOND_MS } from "../../../base/lib/time/time.ts";
import { fieldOf } from "../../../base/lib/untrusted-json.ts";
import { HttpFailure, RpcError, requestRpc } from "../../service/json-rpc-http.ts";
import { JsonRpcSocket } from "../../service/json-rpc-socket.ts";
import { type RequestOutcome, ServiceTally } from "../../service/service-tally.ts";
import { reasonOf } from "../../service/unread.ts";
import { Quantity } from "../evm-block.ts";
import type { Finality } from "../network.ts";
import { RpcFailure, toRpcFailure } from "./rpc-failure.ts";

interface EndpointOptions {
  /** `http(s)://` is polled; `ws(s)://` also pushes new blocks. */
  readonly url: string;
  readonly clock: Clock;
  /** Timeout of a request in milliseconds. */
  readonly timeoutMs: number;
  readonly finality: Finality;
  /** Maximum number of requests in five minutes. Default: as many as the endpoint accepts. */
  readonly maxRequests?: number;
  /** Called when the endpoint's final head has moved. */
  readonly onFinalHead: () => void;
  /** Called with each HTTP response, before its body is read. */
  readonly onResponse?: (response: Response) => void;
}

/** A reverted call is a valid response. */
const OUTCOMES = {
  rate: "refused",
  refused: "refused",
  reverted: "good",
  pending: "good",
  failed: "failed",
} as const satisfies Record<RpcFailure["kind"], RequestOutcome>;

/** Requests for the newest final block: smallest response first. Not every node supports both. */
const FINAL_REQUESTS = [
  { method: "eth_getHeaderByNumber", params: ["finalized"] },
  { method: "eth_getBlockByNumber", params: ["finalized", false] },
] as const;
/** Before they know a final block, nodes report none or block 0. */
const isUnknownBlock = (answer: unknown) => answer === null || fieldOf(answer, "number") === "0x0";
const FinalHeader = z.object({ number: Quantity.refine((number) => number > 0) });
/** Time after which an endpoint that did not report its final block is queried for it again. */
const ASK_FINAL_AGAIN_MS = 5 * MINUTE_MS;

/** Number of requests after which another endpoint is preferred. */
const TURN_REQUESTS = 50;
/** Delays up to this long make no difference between endpoints. */
const DELAY_STEP_MS = 100;
const LIMIT_CHECK_MS = SECOND_MS;

const MAX_REST_MS = 5 * SECOND_MS;
/**
 * Requests start without a pause. The first rate-limit response sets this pause between two
 * requests.
 */
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 2 * SECOND_MS;
/** A good response multiplies the pause by this. */
const RECOVERY = 0.7;

/**
 * A node, or a provider's many nodes behind one address. Adapts its pace to the provider's limits:
 * a rate-limit response doubles the pause between requests, and each good response shortens it.
 * Rests after failures, longer with each consecutive one.
 */
export class Endpoint {
  readonly host: string;
  /** For logs and reports. Without the rest of the address, which may contain a key. */
  readonly name: string;
  readonly tally: ServiceTally;
  readonly #options: EndpointOptions;
  readonly #socket: JsonRpcSocket | undefined;
  #finalHead = -1;
  #movedAt = Number.NEGATIVE_INFINITY;
  /** Index in {@link FINAL_REQUESTS}; beyond its end if the endpoint refuses them all. */
  #finalRequest: number;
  #askFinalAt: number;
  #polling: "no" | "once" | "again" = "no";
  #failedRequests = 0;
  #failedPolls = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #restUntil = 0;
  #refusedBlockAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  #nextAt = 0;

  constructor(options: EndpointOptions) {
    const { url, timeoutMs, clock, finality } = options;
    const { protocol, host } = new URL(url);
    const isSocket = /^wss?:$/.test(protocol);
    this.#options = options;
    this.#finalRequest = finality.isFinalByDepth ? FINAL_REQUESTS.length : 0;
    this.#askFinalAt = finality.isFinalByDepth ? Number.POSITIVE_INFINITY : 0;
    this.host = host;
    this.name = isSocket ? `${protocol}//${host}` : host;
    this.tally = new ServiceTally(clock);
    this.#socket = isSocket ? new JsonRpcSocket({ url, clock, timeoutMs }) : undefined;
  }

  get hasSocket(): boolean {
    return this.#socket !== undefined;
  }

  /** Whether it pushes its new blocks. */
  get isListening(): boolean {
    return this.#socket?.isSubscribed === true;
  }

  /** Its newest final block, as it reports or by depth; −1 before the first response. */
  get finalHead(): number {
    return this.#finalHead;
  }

  /** Whether its final head changed within this time. */
  hasMovedWithin(ms: number): boolean {
    return this.#options.clock.monotonic() - this.#movedAt <= ms;
  }

  /** Whether it reports which block is final. If not, the depth below its newest block decides. */
  get reportsFinal(): boolean {
    return this.#finalRequest < FINAL_REQUESTS.length;
  }

  /** Consecutive failures of requests and of polls. */
  get failures(): number {
    return this.#failedRequests + this.#failedPolls;
  }

  /** Whether it gets no requests now, after a failure or for a pause that it demands. */
  get isResting(): boolean {
    return this.#options.clock.monotonic() < this.#restUntil;
  }

  /** How slow it is, in steps: 0 below a second, then one for each doubling. */
  get slowSteps(): number {
    return Math.max(0, Math.floor(Math.log2(this.tally.latencyMs / SECOND_MS)) + 1);
  }

  /**
   * How busy it is, in steps: the delay of the next request (infinite at its limit), then the
   * number of recent requests. Steps, so that several blocks in a row are read from one endpoint.
   */
  get load(): readonly [delay: number, requests: number] {
    const delayMs = this.#nextAt - this.#options.clock.monotonic() + this.#pauseMs;
    const { maxRequests = Number.POSITIVE_INFINITY } = this.#options;
    const requests = this.tally.recent();
    if (requests >= maxRequests) return [Number.POSITIVE_INFINITY, requests];
    return [Math.max(0, Math.floor(delayMs / DELAY_STEP_MS)), Math.floor(requests / TURN_REQUESTS)];
  }

  /**
   * Sends a request at its pace. Rejects with RpcFailure or, if the signal aborts before the
   * request is sent, with its reason. An abort does not cancel an HTTP request that was already
   * sent.
   */
  async ask(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    const { clock, maxRequests = Number.POSITIVE_INFINITY } = this.#options;
    const now = clock.monotonic();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#pauseMs;
    if (at > now) await clock.sleep(at - now, signal);
    while (this.tally.recent() >= maxRequests) await clock.sleep(LIMIT_CHECK_MS, signal);
    signal.throwIfAborted();
    const askedAt = clock.monotonic();
    const ended = this.tally.asked(askedAt - now);
    try {
      const answer = await this.#send(method, params, signal);
      ended("good");
      this.#pauseMs = this.#pauseMs < 1 ? 0 : this.#pauseMs * RECOVERY;
      return answer;
    } catch (error) {
      const failure = toRpcFailure(error, this.#options);
      ended(OUTCOMES[failure.kind]);
      if (failure.kind === "rate") this.#slowDown(failure, askedAt);
      throw failure;
    }
  }

  /**
   * After a valid response: forgets failed requests and ends any rest. Failed polls still count.
   */
  markSuccess(): void {
    this.#failedRequests = 0;
    this.#restUntil = 0;
  }

  /** Whether it refused to return a block, or returned a wrong one, within the last minute. */
  get isRefusing(): boolean {
    return this.#options.clock.monotonic() - this.#refusedBlockAt < MINUTE_MS;
  }

  /** After it refused to return a block or returned a wrong one: prefers others for a minute. */
  markRefusal(): void {
    this.#refusedBlockAt = this.#options.clock.monotonic();
  }

  /** Counts a failed or invalid response and rests. */
  markFailure(): void {
    this.#failedRequests += 1;
    this.#rest();
  }

  /**
   * Polls the final head. Rests after a failure and returns it. A rate-limit response is no
   * failure.
   */
  async pollFinalHead(signal: AbortSignal): Promise<RpcFailure | undefined> {
    try {
      const finalHead = await this.#askFinalHead(signal);
      this.#failedPolls = 0;
      // It may decrease: blocks are replaced, and an endpoint may be many nodes.
      if (finalHead !== this.#finalHead) {
        this.#finalHead = finalHead;
        this.#movedAt = this.#options.clock.monotonic();
        this.#options.onFinalHead();
      }
      return undefined;
    } catch (error) {
      return this.#countFailedPoll(error, signal);
    }
  }

  /**
   * Subscribes to new blocks, if the endpoint has a WebSocket that is not subscribed yet. Polls the
   * final head with each new block until the signal aborts. Returns the failure as
   * {@link pollFinalHead} does. Poll afterwards, because earlier blocks are not pushed.
   */
  async listen(signal: AbortSignal): Promise<RpcFailure | undefined> {
    try {
      await this.#socket?.subscribe("newHeads", () => void this.#pollOnPush(signal), signal);
      return undefined;
    } catch (error) {
      return this.#countFailedPoll(error, signal);
    }
  }

  close(): void {
    this.#socket?.close();
  }

  async #send(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    const reply = this.#socket
      ? await this.#socket.request(method, params, signal)
      : await requestRpc(method, params, this.#options);
    if ("error" in reply) throw new RpcError(reply.error);
    return reply.result;
  }

  /** Blocks that are pushed during a poll cause one more poll. */
  async #pollOnPush(signal: AbortSignal): Promise<void> {
    const isPolling = this.#polling !== "no";
    this.#polling = isPolling ? "again" : "once";
    if (isPolling) return;
    while (this.#polling !== "no") {
      await this.pollFinalHead(signal);
      this.#polling = this.#polling === "again" && !signal.aborted ? "once" : "no";
    }
  }

  /** Returns the block that the endpoint reports as final or, if it does not, one deep enough. */
  async #askFinalHead(signal: AbortSignal): Promise<number> {
    const { clock, finality } = this.#options;
    if (!this.reportsFinal && clock.monotonic() >= this.#askFinalAt) this.#finalRequest = 0;
    for (;;) {
      const index = this.#finalRequest;
      const request = FINAL_REQUESTS[index];
      if (!request) break;
      try {
        const answer = await this.ask(request.method, request.params, signal);
        const read = FinalHeader.safeParse(answer);
        if (read.success) return read.data.number;
        if (!isUnknownBlock(answer)) this.tally.unread.count("final block", reasonOf(read.error, answer));
      } catch (error) {
        if (!(error instanceof RpcFailure && isRefusal(error))) throw error;
      }
      // A concurrent poll may have advanced it already.
      this.#finalRequest = Math.max(this.#finalRequest, index + 1);
      this.#askFinalAt = clock.monotonic() + ASK_FINAL_AGAIN_MS;
    }
    const newest = Quantity.parse(await this.ask("eth_blockNumber", [], signal));
    return Math.max(0, newest - finality.finalityBlocks);
  }

  #countFailedPoll(error: unknown, signal: AbortSignal): RpcFailure | undefined {
    const failure = toRpcFailure(error, this.#options);
    if (failure.kind === "rate" || signal.aborted) return undefined;
    this.#failedPolls += 1;
    this.#rest();
    return failure;
  }

  #rest(): void {
    const restMs = Math.min(MAX_REST_MS, (SECOND_MS / 8) * 2 ** Math.min(20, this.failures));
    this.#restUntil = Math.max(this.#restUntil, this.#options.clock.monotonic() + restMs);
  }

  /**
   * Rate-limit responses to requests that were sent before the pause was raised do not raise it
   * again.
   */
  #slowDown({ retryAfterMs = 0 }: RpcFailure, askedAt: number): void {
    const now = this.#options.clock.monotonic();
    if (askedAt > this.#slowedAt) {
      this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
      this.#slowedAt = now;
    }
    this.#nextAt = Math.max(this.#nextAt, now + Math.max(this.#pauseMs, retryAfterMs));
    // If it named a pause, other endpoints take over. This does not count as a failure.
    this.#restUntil = Math.max(this.#restUntil, now + retryAfterMs);
  }
}

/**
 * Whether the endpoint rejected the request itself: by an error of JSON-RPC, or by an HTTP status
 * below 500, as some providers do.
 */
function isRefusal({ kind, cause }: RpcFailure): boolean {
  if (kind === "rate") return false;
  if (cause instanceof HttpFailure) return cause.status !== undefined && cause.status < 500;
  return kind === "refused" || cause instanceof RpcError;
}
