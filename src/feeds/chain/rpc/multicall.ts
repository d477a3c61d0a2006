import * as AbiFunction from "ox/AbiFunction";
import * as Hex from "ox/Hex";
import { MULTICALL3 } from "../network.ts";
import type { Call, Inquiry, Result } from "../pools/forms/pool-form.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { RpcFailure } from "./rpc-failure.ts";

/** https://github.com/mds1/multicall3 */
const AGGREGATE = AbiFunction.from([
  "struct Call { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call[] calls) payable returns (Result[] results)",
]);

/**
 * Maximum number of calls in one request, unless one inquiry makes more at once. At 20,000 gas
 * each, 250 use a tenth of what nodes allow.
 */
const MAX_CALLS = 250;

/**
 * The last call of each request: the BLAKE2 precompile (EIP-152) with 200,000 rounds, which costs
 * exactly that much gas. If it succeeds, that much gas was left, so no call that needs less can
 * have run out of gas.
 */
const GAS_PROBE = {
  target: "0x0000000000000000000000000000000000000009",
  allowFailure: true,
  callData: `0x${(200_000).toString(16).padStart(8, "0")}${"00".repeat(209)}`,
} as const;

/**
 * Calls contracts, many in one request, by Multicall3. A call that fails does not affect others.
 */
export class Multicall {
  readonly #pool: Pick<EndpointPool, "ask">;

  /** @param pool The endpoints, or one of them. */
  constructor(pool: Pick<EndpointPool, "ask">) {
    this.#pool = pool;
  }

  /**
   * Runs inquiries (see {@link Inquiry}) concurrently, by default at the newest block. Collects the
   * next calls of all inquiries and sends them in few requests. A contract that uses up all gas
   * affects no other inquiry. Rejects with RpcFailure.
   */
  async inquire<T>(
    inquiries: readonly Inquiry<T>[],
    signal: AbortSignal,
    atBlock?: number,
  ): Promise<readonly T[]> {
    const done = new Map<Inquiry<T>, { readonly value: T }>();
    let asked: { readonly inquiry: Inquiry<T>; readonly calls: readonly Call[] }[] = [];
    const advance = (inquiry: Inquiry<T>, results: readonly Result[]) => {
      const step = inquiry.next(results);
      if (step.done) done.set(inquiry, step);
      else asked.push({ inquiry, calls: step.value });
    };
    for (const inquiry of inquiries) advance(inquiry, []);
    while (asked.length > 0) {
      const round = asked;
      asked = [];
      const groups = round.map(({ calls }) => calls);
      const results = await this.#run(groups, signal, atBlock);
      for (const [index, { inquiry }] of round.entries()) advance(inquiry, results[index] ?? []);
    }
    return inquiries.flatMap((inquiry) => {
      const step = done.get(inquiry);
      return step ? [step.value] : [];
    });
  }

  /** Runs groups of calls. If one uses up all gas, runs each half alone, down to single calls. */
  async #run(
    groups: readonly (readonly Call[])[],
    signal: AbortSignal,
    atBlock: number | undefined,
  ): Promise<readonly (readonly Result[])[]> {
    const requests = requestsOf(groups);
    if (requests.length > 1) return (await this.#runAll(requests, signal, atBlock)).flat();
    const calls = groups.flat();
    if (calls.length === 0) return groups.map(() => []);
    const results = await this.#ask(calls, signal, atBlock);
    if (results.isStarved && groups.length > 1)
      return (await this.#runAll(halvesOf(groups), signal, atBlock)).flat();
    if (results.isStarved && calls.length > 1)
      return [(await this.#run(halvesOf(calls), signal, atBlock)).flat()];
    let taken = 0;
    return groups.map(({ length }) => {
      taken += length;
      return results.values.slice(taken - length, taken);
    });
  }

  #runAll(
    parts: readonly (readonly (readonly Call[])[])[],
    signal: AbortSignal,
    atBlock: number | undefined,
  ) {
    return Promise.all(parts.map((part) => this.#run(part, signal, atBlock)));
  }

  /** Sends one request. If it was starved, calls may have failed because others used up all gas. */
  async #ask(
    calls: readonly Call[],
    signal: AbortSignal,
    atBlock: number | undefined,
  ): Promise<{ readonly values: readonly Result[]; readonly isStarved: boolean }> {
    const encoded = calls.map(({ abi, functionName, args = [] }) =>
      // A contract may have returned arguments out of their type's range, so that no call exists.
      attempt(() => AbiFunction.encodeData(abi, functionName, args)),
    );
    const wrapped = calls.map(({ address }, index) => ({
      target: hexOf(address),
      allowFailure: true,
      callData: encoded[index] ?? "0x",
    }));
    const data = AbiFunction.encodeData(AGGREGATE, [[...wrapped, GAS_PROBE]]);
    const block = atBlock === undefined ? "latest" : Hex.fromNumber(atBlock);
    try {
      // A node that has pruned this block is not at fault.
      const isBlamed = atBlock === undefined;
      const answer = await this.#pool.ask("eth_call", [{ to: MULTICALL3, data }, block], signal, isBlamed);
      const returned = attempt(() => AbiFunction.decodeResult(AGGREGATE, hexOf(answer)));
      if (returned?.length !== calls.length + 1)
        throw new RpcFailure("failed", `returned no results of Multicall3 at ${MULTICALL3}`);
      const values = calls.map(({ abi, functionName }, index): Result => {
        const { success = false, returnData = "0x" } = returned[index] ?? {};
        return success && encoded[index] !== undefined
          ? attempt(() => AbiFunction.decodeResult(abi, functionName, returnData))
          : undefined;
      });
      return { values, isStarved: returned.at(-1)?.success !== true };
    } catch (error) {
      if (!(error instanceof RpcFailure && error.kind === "reverted")) throw error;
      return { values: calls.map(() => undefined), isStarved: true };
    }
  }
}

/**
 * Divides groups into requests of at most {@link MAX_CALLS}. A larger group gets a request of its
 * own.
 */
function requestsOf(groups: readonly (readonly Call[])[]): (readonly Call[])[][] {
  const requests: (readonly Call[])[][] = [];
  let calls = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    calls += group.length;
    if (calls > MAX_CALLS) {
      requests.push([]);
      calls = group.length;
    }
    requests.at(-1)?.push(group);
  }
  return requests;
}

function halvesOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  const half = Math.ceil(items.length / 2);
  return [items.slice(0, half), items.slice(half)];
}

function hexOf(text: unknown): Hex.Hex {
  return Hex.validate(text, { strict: true }) ? text : "0x";
}

function attempt<T>(convert: () => T): T | undefined {
  try {
    return convert();
  } catch {
    return undefined;
  }
}
