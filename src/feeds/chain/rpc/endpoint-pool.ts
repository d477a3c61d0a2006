import type { Notify } from "../../../base/lib/notify.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { SECOND_MS } from "../../../base/lib/time/time.ts";
import { waitAtMost } from "../../../base/lib/time/wait-at-most.ts";
import type { ServiceReport } from "../../../gateway/source/index.ts";
import { groupTroubles } from "../../service/group-troubles.ts";
import { Quantity } from "../evm-block.ts";
import type { Finality, Network } from "../network.ts";
import { Endpoint } from "./endpoint.ts";
import { Hedges } from "./hedges.ts";
import { RpcFailure } from "./rpc-failure.ts";

interface EndpointPoolOptions {
  readonly urls: readonly string[];
  readonly network: Finality & Pick<Network, "chainId">;
  readonly clock: Clock;
  /**
   * How often to poll the final heads, in milliseconds. Default 1,000. Endpoints that push blocks
   * are polled at most every 5 seconds.
   */
  readonly pollEveryMs?: number;
  /** Timeout of a request in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Requests to each endpoint in five minutes. Default: no limit. */
  readonly maxRequests?: number;
  readonly notify: Notify;
}

/** An endpoint whose final head did not change within this time stands still. */
const MOVING_MS = 30 * SECOND_MS;

/** Created at its first use: creating it at each start would take 15 ms of CPU time. */
let listFormat: Intl.ListFormat | undefined;

/** Tracks the health and heads of one chain's endpoints, and sends requests to the best one. */
export class EndpointPool {
  readonly #options: EndpointPoolOptions;
  readonly #endpoints: readonly Endpoint[];
  /** Endpoints that report the right chain ID. One on another chain is never used. */
  readonly #onChain = new Set<Endpoint>();
  readonly #foreign = new Set<Endpoint>();
  /** Current trouble of an endpoint, without its address. */
  readonly #troubles = new Map<Endpoint, string>();
  #waiting: (() => void)[] = [];
  readonly hedges: Hedges;
  /** Why the next block cannot be read although endpoints respond, as a sentence. */
  obstacle: string | undefined;

  constructor(options: EndpointPoolOptions) {
    const { urls, clock, network, maxRequests, timeoutMs = 10 * SECOND_MS } = options;
    this.#options = options;
    this.hedges = new Hedges(clock);
    const own = { clock, timeoutMs, finality: network, onFinalHead: () => this.#wake() };
    const limit = maxRequests === undefined ? {} : { maxRequests };
    this.#endpoints = [...new Set(urls)].map((url) => new Endpoint({ ...own, ...limit, url }));
  }

  /** Polls the final heads until the signal aborts. Does not reject. */
  async run(signal: AbortSignal): Promise<void> {
    const watch = async (endpoint: Endpoint) => {
      await this.#watch(endpoint, signal);
      endpoint.close();
    };
    await Promise.all(this.#endpoints.map(watch));
  }

  /**
   * Returns the endpoints of the right chain that are not resting and claim that this block is
   * final (−1: any), those with the fewest consecutive failures first, then those that refused no
   * block of late, then the fastest. Of equals, those without a WebSocket come first, because
   * WebSocket answers are seldom compressed. Ties go to the least busy.
   */
  usable(number: number): Endpoint[] {
    return [...this.#onChain]
      .filter((endpoint) => !endpoint.isResting && endpoint.finalHead >= number)
      .map((endpoint) => ({
        endpoint,
        rank: [
          endpoint.failures,
          Number(endpoint.isRefusing),
          endpoint.slowSteps,
          Number(endpoint.hasSocket),
          ...endpoint.load,
        ],
      }))
      .toSorted((a, b) => compare(a.rank, b.rank))
      .map(({ endpoint }) => endpoint);
  }

  /** Returns the best usable endpoint of each host. */
  get hosts(): readonly Endpoint[] {
    const usable = this.usable(-1);
    return usable.filter(({ host }, index) => usable.findIndex((one) => one.host === host) === index);
  }

  /**
   * The highest final block that a usable endpoint claims; −1 if there is none. Claims of endpoints
   * that are slow, refuse blocks or stand still count only if there are no others, because the
   * block would have to come from them.
   */
  get finalHead(): number {
    // Read for each response, so without the order of `usable`.
    let highest = -1;
    let best = -1;
    for (const endpoint of this.#onChain) {
      if (endpoint.isResting) continue;
      highest = Math.max(highest, endpoint.finalHead);
      const isGood = !endpoint.isRefusing && endpoint.slowSteps === 0 && endpoint.hasMovedWithin(MOVING_MS);
      if (isGood) best = Math.max(best, endpoint.finalHead);
    }
    return best < 0 ? highest : best;
  }

  /** The distinct final blocks that usable endpoints claim, highest first. */
  get finalHeads(): readonly number[] {
    return [...new Set(this.usable(0).map(({ finalHead }) => finalHead))].toSorted((a, b) => b - a);
  }

  /**
   * The final heads that a second host confirms by claiming the same or a higher one, highest
   * first. With a single usable host, its own head. A host that claims a block alone may lie.
   */
  get agreedHeads(): readonly number[] {
    const claims = [...Map.groupBy(this.usable(0), ({ host }) => host).values()]
      .map((endpoints) => Math.max(...endpoints.map(({ finalHead }) => finalHead)))
      .toSorted((a, b) => b - a);
    return [...new Set(claims.length > 1 ? claims.slice(1) : claims)];
  }

  /** Whether an endpoint has neither claimed a final block nor failed yet. */
  get isUndecided(): boolean {
    return this.#endpoints.some((one) => one.finalHead < 0 && one.failures === 0 && !this.#foreign.has(one));
  }

  /** Names the slow hosts, in sentences; `undefined` if there are none. */
  get #slowness(): string | undefined {
    return groupTroubles(this.#endpoints.map(({ name, tally }) => ({ name, trouble: tally.slowness })));
  }

  /** Returns the state of each endpoint. Endpoints that share a name are numbered. */
  services(part: string): readonly ServiceReport[] {
    const names = this.#endpoints.map(({ name }) => name);
    return this.#endpoints.map((endpoint, index) => {
      const isShared = names.indexOf(endpoint.name) !== names.lastIndexOf(endpoint.name);
      const service = isShared ? `${endpoint.name} #${index + 1}` : endpoint.name;
      return endpoint.tally.report(part, service, this.#onChain.has(endpoint) && endpoint.failures === 0);
    });
  }

  /**
   * Returns a sentence that explains why no endpoint can be used, why no block can be read, or
   * which host is slow, without addresses; `undefined` if nothing is wrong.
   *
   * @param chain The chain's name.
   */
  trouble(chain: string): string | undefined {
    const isUnusable = (endpoint: Endpoint) => this.#troubles.has(endpoint) || !this.#onChain.has(endpoint);
    if (!this.#endpoints.every(isUnusable)) return this.obstacle ?? this.#slowness;
    const troubles = this.#endpoints.map(
      (endpoint) => this.#troubles.get(endpoint) ?? "has not responded yet",
    );
    if (troubles.length === 1)
      return `the only endpoint of ${chain} cannot be used, because it ${troubles[0]}`;
    const groups = [...Map.groupBy(troubles, (trouble) => trouble)].map(([trouble, { length }]) => {
      const whom = length === troubles.length ? "each" : length === 1 ? "one" : `each of ${length}`;
      return `${whom} ${trouble}`;
    });
    listFormat ??= new Intl.ListFormat("en-US");
    return `none of the ${troubles.length} endpoints of ${chain} can be used, because ${listFormat.format(groups)}`;
  }

  get allWrongChain(): boolean {
    return this.#foreign.size === this.#endpoints.length;
  }

  /**
   * Asks the endpoints in order and returns the first successful response (see {@link Hedges}).
   * Rejects with RpcFailure: `reverted` as soon as one reports that, else the last failure. If
   * `isBlamed`, failures count against the endpoint.
   */
  async ask(
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    isBlamed = true,
  ): Promise<unknown> {
    const answer = await this.hedges.firstOf(
      () => this.usable(-1),
      signal,
      async (endpoint) => {
        try {
          return { result: await endpoint.ask(method, params, signal) };
        } catch (error) {
          if (!(error instanceof RpcFailure)) throw error;
          if (error.kind === "reverted") return { error };
          if (error.kind === "failed" && isBlamed) endpoint.markFailure();
          throw error.of(endpoint.name);
        }
      },
    );
    if ("error" in answer) throw answer.error;
    return answer.result;
  }

  /** Waits until a final head moves, for at most `ms`. Rejects if the signal aborts. */
  async changed(ms: number, signal: AbortSignal): Promise<void> {
    const moved = new Promise<void>((resolve) => this.#waiting.push(resolve));
    await waitAtMost(moved, ms, this.#options.clock, signal);
    signal.throwIfAborted();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  async #watch(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    const { clock, pollEveryMs = SECOND_MS, notify } = this.#options;
    let isDown = false;
    let isSlow = false;
    while (!signal.aborted && !this.#foreign.has(endpoint)) {
      if (!endpoint.isResting) {
        if (!this.#onChain.has(endpoint)) await this.#checkChain(endpoint, signal);
        if (this.#onChain.has(endpoint)) {
          // Also poll an endpoint that pushes its blocks, because a dead connection is silent.
          const failure = (await endpoint.listen(signal)) ?? (await endpoint.pollFinalHead(signal));
          this.#note(endpoint, failure?.words);
          if (failure && !isDown) notify("warn", failure.of(endpoint.name).message);
          else if (!failure && isDown) notify("info", `${endpoint.name} responds again`);
          isDown = failure !== undefined;
          const { slowness } = endpoint.tally;
          if (slowness !== undefined && !isSlow) notify("warn", `${endpoint.name} ${slowness}`);
          else if (slowness === undefined && isSlow) notify("info", `${endpoint.name} is fast again`);
          isSlow = slowness !== undefined;
        }
      }
      const pauseMs = endpoint.isListening ? Math.max(pollEveryMs, 5 * SECOND_MS) : pollEveryMs;
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  async #checkChain(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    const { network, notify } = this.#options;
    const { chainId } = network;
    try {
      const reported = Quantity.parse(await endpoint.ask("eth_chainId", [], signal));
      if (reported === chainId) {
        this.#onChain.add(endpoint);
        this.#note(endpoint, undefined);
        return;
      }
      this.#foreign.add(endpoint);
      this.#note(endpoint, `serves chain ${reported}, not ${chainId}`);
      notify("warn", `${endpoint.name} serves chain ${reported}, not ${chainId}; ignoring it`);
    } catch (error) {
      if (signal.aborted) return;
      const failure =
        error instanceof RpcFailure ? error : new RpcFailure("failed", "returned an invalid chain id");
      this.#note(endpoint, failure.words);
      if (failure.kind === "rate") return;
      endpoint.markFailure();
      if (endpoint.failures === 1) notify("warn", failure.of(endpoint.name).message);
    }
  }

  #note(endpoint: Endpoint, trouble: string | undefined): void {
    if (trouble === undefined) this.#troubles.delete(endpoint);
    else this.#troubles.set(endpoint, trouble);
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1;
}
