import { countWords, type EvmLog, readAddress, readInt, readInt24, readUint } from "./evm-log.ts";

/*
 * Decodes the events of pools by hand. All consist of words at fixed positions. A general decoder,
 * measured at twenty thousand logs a second, would use up everything that a busy chain leaves. A
 * log with a word out of its type's range belongs to another contract and is ignored.
 */

/** A factory created a pool. `factory` is the log's sender: check that it is a known one. */
export interface PoolCreated {
  readonly kind: "created";
  readonly form: "v2" | "v3" | "algebra";
  readonly factory: string;
  readonly pool: string;
  readonly token0: string;
  readonly token1: string;
}

/** The price of a V3 pool, and the liquidity in range. */
export interface PriceRange {
  /** √(token1 / token0) × 2⁹⁶. */
  readonly sqrtPriceX96: bigint;
  /** Tick of that price as the pool reports it: at the edge of a tick, the price is ambiguous. */
  readonly tick: number;
  /** Sum of the liquidity of all positions with `lower` ≤ `tick` < `upper`. */
  readonly liquidity: bigint;
}

/** A V3 pool got its first price. It has no liquidity yet. */
export interface Initialized {
  readonly kind: "initialized";
  readonly form: "v3";
  readonly range: PriceRange;
}

/** A swap's amounts in the tokens' smallest units; positive if the pool received them. */
export interface Swap {
  readonly kind: "swap";
  readonly form: "v2" | "v3";
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** V3 forms only: the range after the swap. */
  readonly range?: PriceRange;
}

/** The reserves of a V2 pool, reported at every change, before the log of its reason. */
export interface Sync {
  readonly kind: "sync";
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/**
 * Makers add or remove tokens. A `burn` of a V3 form owes amounts; `collect` pays them, and fees.
 */
export interface MakerMove {
  readonly kind: "mint" | "burn" | "collect";
  readonly form: "v2" | "v3";
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** For `mint` and `burn` of V3 forms: the liquidity that was added or removed, and its ticks. */
  readonly position?: { readonly lower: number; readonly upper: number; readonly liquidity: bigint };
}

/** A transfer of a token between two accounts. */
export interface Transfer {
  readonly kind: "transfer";
  readonly from: string;
  readonly to: string;
  readonly units: bigint;
}

/** The decoded events of pools. */
export type PoolLog = PoolCreated | Initialized | Swap | Sync | MakerMove;

const MAX_UINT112 = (1n << 112n) - 1n;
const MAX_UINT128 = (1n << 128n) - 1n;
const MAX_UINT160 = (1n << 160n) - 1n;

type Reader = (log: EvmLog) => PoolLog | undefined;

/** The signatures of the events, as declared by their contracts, with their keccak-256 topics. */
export const EVENT_TOPICS = {
  "PairCreated(address,address,address,uint256)":
    "0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9",
  "PoolCreated(address,address,uint24,int24,address)":
    "0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118",
  "Pool(address,address,address)": "0x91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db",
  "Sync(uint112,uint112)": "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1",
  "Swap(address,uint256,uint256,uint256,uint256,address)":
    "0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822",
  "Mint(address,uint256,uint256)": "0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f",
  "Burn(address,uint256,uint256,address)":
    "0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496",
  "Initialize(uint160,int24)": "0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95",
  "Swap(address,address,int256,int256,uint160,uint128,int24)":
    "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67",
  "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)":
    "0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83",
  "Mint(address,address,int24,int24,uint128,uint256,uint256)":
    "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde",
  "Burn(address,int24,int24,uint128,uint256,uint256)":
    "0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c",
  "Collect(address,address,int24,int24,uint128,uint128)":
    "0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0",
} as const;

type Signature = keyof typeof EVENT_TOPICS;

const READERS: Readonly<Record<Signature, Reader>> = {
  "PairCreated(address,address,address,uint256)": (log) => readCreated(log, "v2", 3, 2, 0),
  "PoolCreated(address,address,uint24,int24,address)": (log) => readCreated(log, "v3", 4, 2, 1),
  "Pool(address,address,address)": (log) => readCreated(log, "algebra", 3, 1, 0),
  "Sync(uint112,uint112)": readSync,
  "Swap(address,uint256,uint256,uint256,uint256,address)": readV2Swap,
  "Mint(address,uint256,uint256)": (log) => readMove(log, "mint", "v2", 2, 2, 0),
  "Burn(address,uint256,uint256,address)": (log) => readMove(log, "burn", "v2", 3, 2, 0),
  "Initialize(uint160,int24)": readInitialized,
  "Swap(address,address,int256,int256,uint160,uint128,int24)": (log) => readV3Swap(log, 5),
  // PancakeSwap V3 appends the protocol's fees of either token to the fields of Uniswap's event.
  "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)": (log) => readV3Swap(log, 7),
  "Mint(address,address,int24,int24,uint128,uint256,uint256)": (log) => readPositionMove(log, "mint", 4),
  "Burn(address,int24,int24,uint128,uint256,uint256)": (log) => readPositionMove(log, "burn", 3),
  "Collect(address,address,int24,int24,uint128,uint128)": (log) =>
    readMove(log, "collect", "v3", 4, 3, 1, MAX_UINT128),
};

const BY_TOPIC: ReadonlyMap<string, Reader> = new Map(
  Object.entries(EVENT_TOPICS).map(([signature, topic]) => [topic, READERS[signature as Signature]]),
);

/** The topics of all events that {@link decodeLog} reads. */
export const POOL_TOPICS: readonly string[] = Object.values(EVENT_TOPICS);

/**
 * Decodes a pool's log; `undefined` for any other log, and for one that does not match its topic.
 */
export function decodeLog(log: EvmLog): PoolLog | undefined {
  const [topic] = log.topics;
  return topic === undefined ? undefined : BY_TOPIC.get(topic)?.(log);
}

/** "Transfer(address,address,uint256)" of ERC-20. */
export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/**
 * Decodes a token transfer; `undefined` for other logs, and for ERC-721, which has the same topic.
 */
export function decodeTransfer(log: EvmLog): Transfer | undefined {
  if (log.topics[0] !== TRANSFER_TOPIC || !isShaped(log, 3, 1)) return undefined;
  const from = readAddress(log.topics[1] ?? "", 0);
  const to = readAddress(log.topics[2] ?? "", 0);
  if (from === undefined || to === undefined) return undefined;
  return { kind: "transfer", from, to, units: readUint(log.data, 0) };
}

function isShaped(log: EvmLog, topics: number, words: number): boolean {
  return log.topics.length === topics && countWords(log.data) === words;
}

function readCreated(
  log: EvmLog,
  form: PoolCreated["form"],
  topics: number,
  words: number,
  poolWord: number,
): PoolCreated | undefined {
  if (!isShaped(log, topics, words)) return undefined;
  const token0 = readAddress(log.topics[1] ?? "", 0);
  const token1 = readAddress(log.topics[2] ?? "", 0);
  const pool = readAddress(log.data, poolWord);
  if (token0 === undefined || token1 === undefined || pool === undefined) return undefined;
  return { kind: "created", form, factory: log.address, pool, token0, token1 };
}

function readSync(log: EvmLog): Sync | undefined {
  if (!isShaped(log, 1, 2)) return undefined;
  const reserve0 = readUint(log.data, 0);
  const reserve1 = readUint(log.data, 1);
  return reserve0 > MAX_UINT112 || reserve1 > MAX_UINT112 ? undefined : { kind: "sync", reserve0, reserve1 };
}

/**
 * A V2 pool reports amounts received (net of a token's own fee) and sent. Both can occur for one
 * token, so the difference counts.
 */
function readV2Swap(log: EvmLog): Swap | undefined {
  if (!isShaped(log, 3, 4)) return undefined;
  const amount0 = readUint(log.data, 0) - readUint(log.data, 2);
  const amount1 = readUint(log.data, 1) - readUint(log.data, 3);
  return { kind: "swap", form: "v2", amount0, amount1 };
}

function readInitialized(log: EvmLog): Initialized | undefined {
  if (!isShaped(log, 1, 2)) return undefined;
  const sqrtPriceX96 = readUint(log.data, 0);
  const tick = readInt24(log.data, 1);
  if (sqrtPriceX96 > MAX_UINT160 || tick === undefined) return undefined;
  return { kind: "initialized", form: "v3", range: { sqrtPriceX96, tick, liquidity: 0n } };
}

function readV3Swap(log: EvmLog, words: number): Swap | undefined {
  if (!isShaped(log, 3, words)) return undefined;
  const sqrtPriceX96 = readUint(log.data, 2);
  const liquidity = readUint(log.data, 3);
  const tick = readInt24(log.data, 4);
  if (sqrtPriceX96 > MAX_UINT160 || liquidity > MAX_UINT128 || tick === undefined) return undefined;
  const amount0 = readInt(log.data, 0);
  const amount1 = readInt(log.data, 1);
  return { kind: "swap", form: "v3", amount0, amount1, range: { sqrtPriceX96, tick, liquidity } };
}

function readMove(
  log: EvmLog,
  kind: MakerMove["kind"],
  form: MakerMove["form"],
  topics: number,
  words: number,
  first: number,
  max?: bigint,
): MakerMove | undefined {
  if (!isShaped(log, topics, words)) return undefined;
  const amount0 = readUint(log.data, first);
  const amount1 = readUint(log.data, first + 1);
  if (max !== undefined && (amount0 > max || amount1 > max)) return undefined;
  return { kind, form, amount0, amount1 };
}

/** Liquidity and both amounts are the last three words; owner and ticks are topics. */
function readPositionMove(log: EvmLog, kind: "mint" | "burn", words: number): MakerMove | undefined {
  const move = readMove(log, kind, "v3", 4, words, words - 2);
  const lower = readInt24(log.topics[2] ?? "", 0);
  const upper = readInt24(log.topics[3] ?? "", 0);
  if (!move || lower === undefined || upper === undefined) return undefined;
  const liquidity = readUint(log.data, words - 3);
  return liquidity > MAX_UINT128 ? undefined : { ...move, position: { lower, upper, liquidity } };
}
