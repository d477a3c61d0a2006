import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import * as AbiEvent from "ox/AbiEvent";
import { TrendEngine } from "../../../src/engine/index.ts";
import { type EvmBlock, Header, logsOf, Receipts } from "../../../src/feeds/chain/evm-block.ts";
import { NETWORKS } from "../../../src/feeds/chain/networks.ts";
import { BlockTranslator } from "../../../src/feeds/chain/pools/block-translator.ts";
import { TRANSFER_TOPIC } from "../../../src/feeds/chain/pools/decode.ts";
import type { EvmLog } from "../../../src/feeds/chain/pools/evm-log.ts";
import { type Keccak, keccak, portableKeccak } from "../../../src/feeds/chain/rpc/keccak.ts";
import { countProved } from "../../../src/feeds/chain/rpc/receipts-root.ts";
import { median, type Row } from "./report.ts";

const ROUNDS = 5;
const PROOFS = 25;
const BLOCKS = 200;
const TRADES_A_BLOCK = 100;
const POOLS = 400;
const BEGIN_MS = Date.UTC(2026, 0, 1);
const FACTS = { trades: true, liquidity: true, listings: true, profiles: false };
const { quotes, factories } = NETWORKS.bsc;

/**
 * Measures how fast a chain's logs become market events and enter the engine: two logs per trade,
 * in pools of V2 and of PancakeSwap V3. Also measures how fast recorded blocks are read and proved.
 * All figures are logs per second of CPU in this process.
 */
export function benchChain(): Row[] {
  const feeding: number[] = [];
  for (let round = 0; round < ROUNDS; round++) feeding.push(feed());
  const native: Proof[] = [];
  const portable: Proof[] = [];
  for (let round = 0; round < PROOFS; round++) {
    native.push(prove(keccak));
    portable.push(prove(portableKeccak));
  }
  const rootMs = median(native.map((proof) => proof.rootMs));
  return [
    {
      what: `decode logs of ${POOLS} pools and feed the engine, median of ${ROUNDS}`,
      value: median(feeding),
      unit: "logs/CPU s",
      aim: "≥ 20,000",
    },
    {
      what: `read and prove three real blocks by the roots in their headers, median of ${PROOFS}`,
      value: median(native.map(({ speed }) => speed)),
      unit: "logs/CPU s",
      aim: "told, not bounded",
    },
    {
      what: `CPU of the three roots with this Node's keccak-256, median of ${PROOFS}`,
      value: rootMs,
      unit: "ms",
      aim: "told, not bounded",
    },
    {
      what: "speed-up over the portable keccak-256",
      value: median(portable.map((proof) => proof.rootMs)) / rootMs,
      unit: "times",
      aim: "told, not bounded",
    },
  ];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function feed(): number {
  const translator = new BlockTranslator(NETWORKS.bsc);
  const engine = new TrendEngine({ facts: FACTS });
  const usd = quotes[1].address;
  const [v2, v3] = factories;
  for (let number = 0; number < POOLS; number++) {
    const token = addressOf(1_000 + number);
    translator.pools.learnToken(token, { address: token, decimals: 18, symbol: "T", name: "Token" });
    const form = number % 2 === 0 ? "v2" : "v3";
    const factory = (form === "v2" ? v2 : v3).address;
    translator.pools.create({
      kind: "created",
      form,
      factory,
      pool: addressOf(9_000 + number),
      token0: token,
      token1: usd,
    });
  }
  const blocks = Array.from({ length: BLOCKS }, (_, number) => blockOf(number));
  const logs = blocks.reduce((sum, block) => sum + block.logs.length, 0);
  const began = cpuSeconds();
  let events = 0;
  for (const block of blocks) {
    engine.accept({ kind: "clock", at: block.atMs });
    const read = translator.read(block);
    if (translator.unknownPools(read.logs).length > 0) throw new Error("a pool of the bench is not known");
    for (const event of translator.translate(read)) {
      if (engine.accept(event) !== undefined) throw new Error(`the engine rejects a ${event.kind}`);
      events += 1;
    }
  }
  const seconds = cpuSeconds() - began;
  if (events < BLOCKS * TRADES_A_BLOCK) throw new Error(`only ${events} events came out`);
  return logs / seconds;
}

/** Returns a block of swaps. Half of them are in V2 pools, which also log their reserves. */
function blockOf(number: number): EvmBlock {
  const logs: EvmLog[] = [];
  for (let trade = 0; trade < TRADES_A_BLOCK; trade++) {
    const pool = (number * 37 + trade) % POOLS;
    const units = 10n ** 18n + BigInt(number * trade);
    const origin = addressOf(50_000 + ((number * 7 + trade) % 3_000));
    const transactionHash = word(BigInt(number * TRADES_A_BLOCK + trade));
    const common = { address: addressOf(9_000 + pool), transactionHash, origin };
    const who = word(BigInt(50_000 + trade));
    if (pool % 2 === 0) {
      const sync = AbiEvent.getSelector("Sync(uint112,uint112)");
      const swap = AbiEvent.getSelector("Swap(address,uint256,uint256,uint256,uint256,address)");
      logs.push({
        ...common,
        topics: [sync],
        data: data([10n ** 24n, 5n * 10n ** 22n]),
        logIndex: logs.length,
      });
      const amounts = data(trade % 3 === 0 ? [20n * units, 0n, 0n, units] : [0n, units, 20n * units, 0n]);
      logs.push({ ...common, topics: [swap, who, who], data: amounts, logIndex: logs.length });
    } else {
      const swap = AbiEvent.getSelector(
        "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)",
      );
      const amounts = data([(1n << 256n) - 20n * units, units, 1n << 94n, 10n ** 20n, 7n, 0n, 0n]);
      for (const address of [addressOf(1_000 + pool), quotes[1].address]) {
        const topics = [TRANSFER_TOPIC, who, word(BigInt(common.address))];
        logs.push({ ...common, address, topics, data: data([units]), logIndex: logs.length });
      }
      logs.push({ ...common, topics: [swap, who, who], data: amounts, logIndex: logs.length });
    }
  }
  const hash = word(BigInt(number));
  return { number, hash, parentHash: word(BigInt(number - 1)), atMs: BEGIN_MS + number * 1_000, logs };
}

interface Proof {
  /** Logs per CPU second, from parsed JSON to the proved root. */
  readonly speed: number;
  /** CPU time of the roots alone. */
  readonly rootMs: number;
}

function prove(hash: Keccak): Proof {
  const read = (name: string): unknown => {
    const path = new URL(`../../feeds/chain/data/${name}.json.gz`, import.meta.url);
    return JSON.parse(gunzipSync(readFileSync(path)).toString("utf8"));
  };
  const headers = read("headers") as Record<string, unknown>;
  const raw = Object.entries(headers).map(([name, header]) => ({
    header,
    receipts: read(`${name}-receipts`),
  }));
  const began = cpuSeconds();
  let logs = 0;
  let rootSeconds = 0;
  for (const { header, receipts } of raw) {
    const { receiptsRoot } = Header.parse(header);
    const parsed = Receipts.parse(receipts);
    const rootBegan = cpuSeconds();
    const proved = countProved(parsed, receiptsRoot, hash);
    rootSeconds += cpuSeconds() - rootBegan;
    if (proved !== parsed.length) throw new Error("a real block is not proved");
    logs += logsOf(parsed).length;
  }
  return { speed: logs / (cpuSeconds() - began), rootMs: rootSeconds * 1_000 };
}

function addressOf(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

function word(value: bigint): string {
  return `0x${value.toString(16).replace("-", "").padStart(64, "0")}`;
}

function data(words: readonly bigint[]): string {
  return `0x${words.map((value) => word(value).slice(2)).join("")}`;
}
