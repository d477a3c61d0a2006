import { z } from "zod";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { SECOND_MS } from "../../../base/lib/time/time.ts";
import { HttpFailure } from "../../service/json-rpc-http.ts";
import { JsonRpcSocket, SocketFailure } from "../../service/json-rpc-socket.ts";
import { Quantity } from "../evm-block.ts";
import { MULTICALL3, type Network } from "../network.ts";
import { Endpoint } from "../rpc/endpoint.ts";
import { RpcFailure } from "../rpc/rpc-failure.ts";
import { proveBlock } from "./prove-block.ts";
import { weighReceipts } from "./weigh-receipts.ts";

interface CheckOptions {
  readonly network: Network;
  readonly url: string;
  readonly clock: Clock;
}

interface CheckContext extends CheckOptions {
  readonly endpoint: Endpoint;
  /** The `content-encoding` of each HTTP response; `null` if it is not compressed. */
  readonly encodings: readonly (string | null)[];
}

/** Resolves with what the endpoint does. Rejects with an error that says what is wrong with it. */
type Check = (context: CheckContext, signal: AbortSignal) => Promise<string>;

export type EndpointCheck = keyof typeof CHECKS;

const CHECKS = {
  chain: checkChain,
  block: async ({ endpoint, clock }, signal) => checkAge(await newestBlock(endpoint, signal), clock),
  receipts: async (context, signal) => {
    // Check the chain first, so that a wrong chain is reported in the same words.
    await checkChain(context, signal);
    return proveBlock(context, (await newestBlock(context.endpoint, signal)).number, signal);
  },
  code: checkContracts,
  call: callMulticall,
  logs: measureLogSpan,
  traffic: async ({ endpoint, encodings }, signal) => {
    const newest = await newestBlock(endpoint, signal);
    const earlier = await readBlock(endpoint, hexOf(newest.number - PACE_BLOCKS), signal);
    return weighReceipts(endpoint, encodings, newest, earlier, signal);
  },
  stream: listenForHead,
} as const satisfies Readonly<Record<string, Check>>;

const TIMEOUT_MS = 10 * SECOND_MS;
/**
 * Maximum difference between the newest block's time and this machine's. No supported chain is
 * slower.
 */
const MAX_BLOCK_AGE_MS = 60 * SECOND_MS;
/** Blocks over which the chain's pace is measured. */
const PACE_BLOCKS = 100;
const LOG_SPANS = [10, 100, 1_000, 10_000] as const;
/** Calls `getBlockNumber()` of Multicall3. */
const GET_BLOCK_NUMBER = "0x42cbb15c";
/** Topic of a token transfer. */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** An address without logs, so that the answers are small. */
const SILENT_ADDRESS = "0x0000000000000000000000000000000000000001";
const LISTEN_STEP_MS = 100;
const ADVICE: Readonly<Record<number, string>> = {
  401: ": the key is wrong or missing",
  403: ": it rejects this machine or key",
  404: ": nothing exists at that path",
};

const Block = z.object({ number: Quantity, timestamp: Quantity });
type Block = z.infer<typeof Block>;

/** Checks one function of an endpoint, with the code that a chain's feed uses. */
export async function checkEndpoint(
  name: EndpointCheck,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<string> {
  const encodings: (string | null)[] = [];
  const endpoint = new Endpoint({
    url: options.url,
    clock: options.clock,
    timeoutMs: TIMEOUT_MS,
    finality: options.network,
    onFinalHead: () => undefined,
    onResponse: ({ headers }) => void encodings.push(headers.get("content-encoding")),
  });
  try {
    return endpoint.tally.remark(await CHECKS[name]({ ...options, endpoint, encodings }, signal));
  } catch (error) {
    if (error instanceof RpcFailure) throw new Error(error.message + adviceOn(error), { cause: error });
    throw error;
  } finally {
    endpoint.close();
  }
}

function adviceOn({ kind, cause }: RpcFailure): string {
  if (kind === "rate") return "; use your own key or another endpoint";
  return (cause instanceof HttpFailure && ADVICE[cause.status ?? 0]) || "";
}

async function newestBlock(endpoint: Endpoint, signal: AbortSignal): Promise<Block> {
  return await readBlock(endpoint, "latest", signal);
}

async function readBlock(endpoint: Endpoint, id: string, signal: AbortSignal): Promise<Block> {
  return Block.parse(await endpoint.ask("eth_getBlockByNumber", [id, false], signal));
}

async function checkChain({ network, endpoint }: CheckContext, signal: AbortSignal): Promise<string> {
  const { chainId, name } = network;
  const served = Quantity.parse(await endpoint.ask("eth_chainId", [], signal));
  if (served === chainId) return `${served}, which is ${name}`;
  throw new Error(`serves chain ${served}, not ${chainId}; use an endpoint of ${name}`);
}

function checkAge({ number, timestamp }: Block, clock: Clock): string {
  const ageMs = clock.now() - timestamp * SECOND_MS;
  const words = `the newest block, ${number}, is ${Math.round(ageMs / SECOND_MS)} s old`;
  if (ageMs > MAX_BLOCK_AGE_MS)
    throw new Error(`${words}: the endpoint is behind, or this machine's clock is wrong`);
  if (ageMs < -MAX_BLOCK_AGE_MS)
    throw new Error(`${words}: this machine's clock is slow, or the chain's is fast`);
  return words;
}

async function checkContracts({ network, endpoint }: CheckContext, signal: AbortSignal): Promise<string> {
  const { factories, quotes, name } = network;
  const contracts = [
    ...factories.map((factory) => ({ what: `the factory of ${factory.name}`, address: factory.address })),
    ...quotes.map((quote) => ({ what: `the token ${quote.symbol}`, address: quote.address })),
  ];
  const missing: string[] = [];
  for (const { what, address } of contracts) {
    const code = z.string().parse(await endpoint.ask("eth_getCode", [address, "latest"], signal));
    if (code.length <= 2) missing.push(what);
  }
  const words = `${contracts.length - missing.length} of ${contracts.length} contracts of ${name} exist`;
  if (missing.length > 0) throw new Error(`${words}; missing: ${missing.join(", ")}`);
  return words;
}

async function callMulticall({ endpoint }: CheckContext, signal: AbortSignal): Promise<string> {
  const answer = await endpoint.ask(
    "eth_call",
    [{ to: MULTICALL3, data: GET_BLOCK_NUMBER }, "latest"],
    signal,
  );
  const number = Quantity.parse(z.string().parse(answer).replace(/^0x0+/, "0x"));
  return `Multicall3 can be called, at block ${number}`;
}

/** Finds over how many blocks the endpoint searches logs at once. */
async function measureLogSpan({ endpoint }: CheckContext, signal: AbortSignal): Promise<string> {
  const { number } = await newestBlock(endpoint, signal);
  let widest = 0;
  let why = "";
  for (const span of LOG_SPANS) {
    const range = { fromBlock: hexOf(number - span + 1), toBlock: hexOf(number) };
    try {
      await endpoint.ask("eth_getLogs", [{ ...range, address: SILENT_ADDRESS, topics: [TRANSFER] }], signal);
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      why = error.message;
      break;
    }
    widest = span;
  }
  if (widest === 0) throw new Error(`${why}; Flarewire does not need eth_getLogs`);
  return `eth_getLogs works over at least ${widest} blocks${why === "" ? "" : `, not over ten times as many: ${why}`}; Flarewire does not need it`;
}

/** Waits for the endpoint's first pushed block. */
async function listenForHead({ url, clock }: CheckContext, signal: AbortSignal): Promise<string> {
  const socket = new JsonRpcSocket({ url, clock, timeoutMs: TIMEOUT_MS });
  let hasPushed = false;
  const onEvent = () => {
    hasPushed = true;
  };
  try {
    await socket.subscribe("newHeads", onEvent, signal);
    while (!hasPushed) {
      if (!socket.isSubscribed) throw new SocketFailure("does not push new blocks");
      await clock.sleep(LISTEN_STEP_MS, signal);
    }
    return "pushes new blocks";
  } finally {
    socket.close();
  }
}

/** Returns a block's number for a request; the first block for a negative one. */
function hexOf(number: number): string {
  return `0x${Math.max(0, number).toString(16)}`;
}
