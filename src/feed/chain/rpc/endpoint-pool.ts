import type { Clock } from "../../../lib/time/clock.ts";
import { SECOND_MS } from "../../../lib/time/time.ts";
import type { ServiceReport } from "../../feed.ts";
import { Quantity } from "../evm-block.ts";
import { Endpoint } from "./endpoint.ts";
import { RpcTrouble } from "./rpc-trouble.ts";

/** What a pool of endpoints is made with. */
interface EndpointPoolOptions {
  readonly urls: readonly string[];
  readonly chainId: number;
  readonly clock: Clock;
  /** How often to ask for heads, in milliseconds. */
  readonly lookEveryMs: number;
  /** How long an answer may take, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Told what a person should know, in a sentence; whether it is trouble. */
  readonly onNotice: (sentence: string, isTrouble: boolean) => void;
}

/** The endpoints of one chain: who is well, how far each has come, and answers from whoever gives one. */
export class EndpointPool {
  readonly #options: EndpointPoolOptions;
  readonly #endpoints: readonly Endpoint[];
  /** Those whose chain is the right one; one that is of another is never asked again. */
  readonly #proved = new Set<Endpoint>();
  readonly #foreign = new Set<Endpoint>();
  /** What is wrong with an endpoint now, in words without its address. */
  readonly #faults = new Map<Endpoint, string>();
  #waiting: (() => void)[] = [];

  constructor(options: EndpointPoolOptions) {
    const { urls, clock, timeoutMs = 10 * SECOND_MS } = options;
    this.#options = options;
    const onHead = () => this.#wake();
    this.#endpoints = [...new Set(urls)].map((url) => new Endpoint({ url, clock, timeoutMs, onHead }));
  }

  /** Looks after the heads until the signal aborts. Does not reject. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => this.#watch(endpoint, signal)));
  }

  /** Who is well and claims to have come this far, the most reliable first. */
  able(head: number): Endpoint[] {
    return [...this.#proved]
      .filter((endpoint) => !endpoint.isResting && endpoint.head >= head)
      .toSorted((a, b) => a.strikes - b.strikes);
  }

  /** The highest head that somebody who is well claims; −1 where nobody does. */
  get head(): number {
    return this.heads[0] ?? -1;
  }

  /** The heads that those who are well claim, each once, the highest first. */
  get heads(): readonly number[] {
    return [...new Set(this.able(0).map(({ head }) => head))].toSorted((a, b) => b - a);
  }

  /** How each endpoint fares; one that shares its host with another has its number behind it. */
  services(part: string): readonly ServiceReport[] {
    const hosts = this.#endpoints.map(({ name }) => name);
    return this.#endpoints.map((endpoint, index) => {
      const isShared = hosts.indexOf(endpoint.name) !== hosts.lastIndexOf(endpoint.name);
      const service = isShared ? `${endpoint.name} #${index + 1}` : endpoint.name;
      return endpoint.tally.report(part, service, this.#proved.has(endpoint) && endpoint.strikes === 0);
    });
  }

  /** Why no endpoint can be used, without their addresses; `undefined` while one of them answers. */
  get trouble(): string | undefined {
    const isSilent = (endpoint: Endpoint) => this.#faults.has(endpoint) || !this.#proved.has(endpoint);
    if (!this.#endpoints.every(isSilent)) return undefined;
    const faults = this.#endpoints.map((endpoint) => this.#faults.get(endpoint) ?? "has not answered yet");
    const counts = [...Map.groupBy(faults, (fault) => fault)];
    const words = counts.map(([fault, { length }]) => (length === 1 ? fault : `${fault} (${length} times)`));
    return `none of its ${faults.length} endpoints can be used: ${words.join(", ")}`;
  }

  /** Whether all endpoints turned out to be of another chain. */
  get allWrongChain(): boolean {
    return this.#foreign.size === this.#endpoints.length;
  }

  /** The answer of the first that gives one. Rejects with RpcTrouble `reverted` where that is the answer, or with the last one's where nobody has any. Failures are strikes, unless not `isBlamed`. */
  async ask(
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    isBlamed = true,
  ): Promise<unknown> {
    let last = new RpcTrouble("failed", "no endpoint is available now");
    for (const endpoint of this.able(-1)) {
      try {
        return await endpoint.ask(method, params, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof RpcTrouble) || error.kind === "reverted") throw error;
        if (error.kind === "failed" && isBlamed) endpoint.markFailure();
        last = error;
      }
    }
    throw last;
  }

  /** Waits until some head moves, `ms` at most. */
  async changed(ms: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const moved = new Promise<void>((resolve) => this.#waiting.push(resolve));
    const slept = this.#options.clock
      .sleep(ms, AbortSignal.any([signal, over.signal]))
      .catch(() => undefined);
    await Promise.race([moved, slept]);
    over.abort();
    signal.throwIfAborted();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  async #watch(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    const { clock, lookEveryMs, onNotice } = this.#options;
    let isListening = false;
    let isDown = false;
    while (!signal.aborted && !this.#foreign.has(endpoint)) {
      if (!endpoint.isResting) {
        if (!this.#proved.has(endpoint)) await this.#prove(endpoint, signal);
        if (this.#proved.has(endpoint)) {
          if (!isListening) void endpoint.listen(signal);
          isListening = true;
          // One that tells its heads is asked now and then too, since a line may be dead and silent.
          const trouble = await endpoint.look(signal);
          this.#note(endpoint, trouble?.message);
          if (trouble && !isDown) onNotice(`${endpoint.name} ${trouble.message}`, true);
          else if (!trouble && isDown) onNotice(`${endpoint.name} answers again`, false);
          isDown = trouble !== undefined;
        }
      }
      const pauseMs = endpoint.tellsHeads ? Math.max(lookEveryMs, 5 * SECOND_MS) : lookEveryMs;
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  async #prove(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    const { chainId, onNotice } = this.#options;
    try {
      const said = Quantity.parse(await endpoint.ask("eth_chainId", [], signal));
      if (said === chainId) {
        this.#proved.add(endpoint);
        this.#note(endpoint, undefined);
        return;
      }
      this.#foreign.add(endpoint);
      this.#note(endpoint, `is of chain ${said}, not ${chainId}`);
      onNotice(`${endpoint.name} is of chain ${said}, not ${chainId}: it is not asked again`, true);
    } catch (error) {
      if (signal.aborted) return;
      const fault = error instanceof RpcTrouble ? error.message : "answers nonsense";
      this.#note(endpoint, fault);
      if (error instanceof RpcTrouble && error.kind === "rate") return;
      endpoint.markFailure();
      if (endpoint.strikes === 1) onNotice(`${endpoint.name} ${fault}`, true);
    }
  }

  /** Leaves out the words of the endpoint itself, because {@link trouble} is public. */
  #note(endpoint: Endpoint, fault: string | undefined): void {
    if (fault === undefined) this.#faults.delete(endpoint);
    else this.#faults.set(endpoint, fault.replace(/:.*$/s, ""));
  }
}
