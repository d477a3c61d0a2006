import { z } from "zod";
import { parseJson } from "../../../base/lib/parse-json.ts";
import type { HostlessProbe, Probe } from "../../../base/lib/probe.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { hideAddress } from "../../service/hide-address.ts";
import { MULTICALL3, type Network } from "../network.ts";
import { proveBlock } from "./prove-block.ts";
import { askRpc, Hex, messagesOf, RpcFailure } from "./rpc.ts";
import { weighReceipts } from "./traffic-probe.ts";

interface EndpointProbeOptions {
  readonly network: Network;
  readonly url: string;
  /** Its number among the chain's endpoints, from 1: two may share a host. */
  readonly number: number;
  readonly clock: Clock;
}

const Block = z.object({ number: Hex, hash: z.string(), timestamp: Hex });
const Message = z.union([
  z.object({ params: z.object({ result: z.object({ number: Hex }) }) }),
  z.object({ error: z.object({ code: z.int(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);

/**
 * Maximum difference between the newest block's time and this machine's. No supported chain is
 * slower.
 */
const MAX_BLOCK_AGE_MS = 60_000;
/** Blocks over which the chain's pace is measured. */
const PACE_BLOCKS = 100;
/** Maximum length of a result. */
const MAX_CHARS = 240;
const LOG_SPANS = [10, 100, 1_000, 10_000] as const;
/** Calls `getBlockNumber()` of Multicall3. */
const GET_BLOCK_NUMBER = "0x42cbb15c";
/** Topic of a token transfer. */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** An address without logs, so that the answers are small. */
const SILENT_ADDRESS = "0x0000000000000000000000000000000000000001";

/**
 * Returns probes of the functions that a chain's feed needs, and optional ones. None shows the
 * endpoint's address.
 */
export function endpointProbes(options: EndpointProbeOptions): readonly Probe[] {
  const { network, url, number, clock } = options;
  const { host, hostname } = new URL(url);
  const service = `${network.name} ${host}${number > 1 ? ` #${number}` : ""}`;
  const ask = (method: string, params: readonly unknown[], signal: AbortSignal) =>
    askRpc({ url, clock }, method, params, signal);
  const head = async (signal: AbortSignal) =>
    Block.parse(await ask("eth_getBlockByNumber", ["latest", false], signal));
  const isSocket = /^wss?:/.test(url);
  const probes: readonly HostlessProbe[] = [
    { service, what: "chain", run: (signal) => checkChain(network, ask, signal) },
    { service, what: "block", run: async (signal) => checkAge(await head(signal), clock) },
    {
      ...{ service, what: "receipts" },
      run: async (signal) => {
        // Check the chain first, so that a wrong chain is reported in the same words.
        await checkChain(network, ask, signal);
        return proveBlock(options, (await head(signal)).number, signal);
      },
    },
    { service, what: "code", run: (signal) => checkContracts(network, ask, signal) },
    {
      ...{ service, what: "call" },
      run: async (signal) => {
        const answer = await ask("eth_call", [{ to: MULTICALL3, data: GET_BLOCK_NUMBER }, "latest"], signal);
        return `Multicall3 can be called, at block ${Hex.parse(z.string().parse(answer).replace(/^0x0+/, "0x"))}`;
      },
    },
    {
      ...{ service, what: "logs", isOptional: true },
      run: async (signal) => measureLogSpan((await head(signal)).number, ask, signal),
    },
  ];
  const traffic: HostlessProbe = {
    ...{ service, what: "traffic", isOptional: true },
    run: async (signal) => {
      const newest = await head(signal);
      const id = `0x${Math.max(0, newest.number - PACE_BLOCKS).toString(16)}`;
      const earlier = Block.parse(await ask("eth_getBlockByNumber", [id, false], signal));
      return weighReceipts(options, newest, earlier, signal);
    },
  };
  const stream: HostlessProbe = {
    ...{ service, what: "stream" },
    run: (signal) => listenForHead(url, signal),
  };
  // Traffic is measured over HTTP, because receipts are read over it where a provider has both.
  return [...probes, isSocket ? stream : traffic].map((probe) =>
    withoutSecrets({ ...probe, host: hostname }, url),
  );
}

/** Returns a failing probe if all endpoints of a chain are on one host; otherwise none. */
export function hostProbes({ name }: Network, urls: readonly string[]): readonly Probe[] {
  const [first, ...others] = urls.map((url) => new URL(url));
  if (!first || others.some(({ host }) => host !== first.host)) return [];
  const run = async (): Promise<string> => {
    throw new RpcFailure(
      "is the only host: nothing confirms decimals and names of tokens, and they are not stored on disk; add an endpoint of another provider",
    );
  };
  return [
    { service: `${name} ${first.host}`, what: "second host", host: first.hostname, isOptional: true, run },
  ];
}

/** Hides the endpoint's address in the probe's result, and truncates the result. */
function withoutSecrets(probe: Probe, url: string): Probe {
  const hide = (text: string) => hideAddress(text, url).slice(0, MAX_CHARS);
  const run = async (signal: AbortSignal) => {
    try {
      return hide(await probe.run(signal));
    } catch (error) {
      if (error instanceof RpcFailure) throw new RpcFailure(hide(error.message), { cause: error });
      throw error;
    }
  };
  return { ...probe, run };
}

type Ask = (method: string, params: readonly unknown[], signal: AbortSignal) => Promise<unknown>;

async function checkChain({ chainId, name }: Network, ask: Ask, signal: AbortSignal): Promise<string> {
  const served = Hex.parse(await ask("eth_chainId", [], signal));
  if (served === chainId) return `${served}, which is ${name}`;
  throw new RpcFailure(`serves chain ${served}, not ${chainId}; use an endpoint of ${name}`);
}

function checkAge({ number, timestamp }: z.infer<typeof Block>, clock: Clock): string {
  const ageMs = clock.now() - timestamp * 1_000;
  const words = `the newest block, ${number}, is ${Math.round(ageMs / 1_000)} s old`;
  if (ageMs > MAX_BLOCK_AGE_MS)
    throw new RpcFailure(`${words}: the endpoint is behind, or this machine's clock is wrong`);
  if (ageMs < -MAX_BLOCK_AGE_MS)
    throw new RpcFailure(`${words}: this machine's clock is slow, or the chain's is fast`);
  return words;
}

async function checkContracts(
  { factories, quotes, name }: Network,
  ask: Ask,
  signal: AbortSignal,
): Promise<string> {
  const named = [
    ...factories.map((factory) => ({ what: `the factory of ${factory.name}`, address: factory.address })),
    ...quotes.map((quote) => ({ what: `the token ${quote.symbol}`, address: quote.address })),
  ];
  const missing: string[] = [];
  for (const { what, address } of named) {
    const code = z.string().parse(await ask("eth_getCode", [address, "latest"], signal));
    if (code.length <= 2) missing.push(what);
  }
  const words = `${named.length - missing.length} of ${named.length} contracts of ${name} exist`;
  if (missing.length > 0) throw new RpcFailure(`${words}; missing: ${missing.join(", ")}`);
  return words;
}

/**
 * Finds over how many blocks the endpoint searches logs at once. Rejects with RpcFailure if it
 * searches none.
 */
async function measureLogSpan(head: number, ask: Ask, signal: AbortSignal): Promise<string> {
  let widest = 0;
  let why = "";
  for (const span of LOG_SPANS) {
    const range = {
      fromBlock: `0x${Math.max(0, head - span + 1).toString(16)}`,
      toBlock: `0x${head.toString(16)}`,
    };
    try {
      await ask("eth_getLogs", [{ ...range, address: SILENT_ADDRESS, topics: [TRANSFER] }], signal);
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      why = error.message;
      break;
    }
    widest = span;
  }
  if (widest === 0) throw new RpcFailure(`${why}; Flarewire does not need eth_getLogs`);
  return `eth_getLogs works over at least ${widest} blocks${why === "" ? "" : `, not over ten times as many: ${why}`}; Flarewire does not need it`;
}

/**
 * Waits for the endpoint's first pushed block. Rejects with RpcFailure, also when the signal
 * aborts.
 */
async function listenForHead(url: string, signal: AbortSignal): Promise<string> {
  const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] });
  for await (const text of messagesOf(url, request, signal)) {
    const read = Message.safeParse(parseJson(text));
    if (!read.success) throw new RpcFailure("pushed something other than new blocks");
    if ("error" in read.data) throw new RpcFailure(`does not push new blocks: ${read.data.error.message}`);
    if ("params" in read.data) return `pushed block ${read.data.params.result.number}`;
  }
  throw new RpcFailure("pushed no new block");
}
