import * as Abi from "ox/Abi";
import { NATIVE_COIN } from "../../network.ts";
import { countWords, type EvmLog, readAddress, readUint } from "../evm-log.ts";
import { powerOfTen, squareRoot } from "../exact-decimal.ts";
import {
  addressOf,
  type Cause,
  type CurveShape,
  type Inquiry,
  isAddress,
  noPools,
  type PoolForm,
  type PoolIdentity,
  type PoolState,
  type Result,
} from "./pool-form.ts";
import { type CurveMove, isShaped, type PoolEvent, type Swap } from "./pool-log.ts";

/*
 * Launchpads: one contract sells each of its tokens along a bonding curve, and moves the funds to
 * a pool of an exchange when enough was sold. A curve's id is the address of its token, except on
 * Arena, which numbers them. No argument of the events is indexed, and the events name the traders.
 * What the creation event does not name is read from the contract.
 *
 * - four.meme: https://github.com/pefish/go-coin-eth/tree/main/fourmeme-lib has its document of
 *   30 October 2025. Its first manager contract is obsolete and not followed.
 * - flap: https://docs.flap.sh/flap/developers/wallet-and-terminal-and-bot-developers/trade-tokens
 * - Arena: https://github.com/KyberNetwork/kyberswap-dex-lib (pkg/liquidity-source/arena-bc)
 *   has the interface and curve of its TokenManager. Tokens cost AVAX and are sold by the unit.
 *
 * The depth of a curve is its funds, because sellers can get no more. A token that nobody has
 * bought yet has no depth, whatever its price.
 */

const FOUR_MEME_ABI = Abi.from([
  // The first two of thirteen words.
  "function _tokenInfos(address) view returns (address base, address quote)",
]);
const FLAP_ABI = Abi.from([
  "function getTokenV5(address) view returns (uint8 status, uint256 reserve, uint256 supply, uint256 price, uint8 version, uint256 r, uint256 h, uint256 k, uint256 threshold, address quote)",
]);

const ARENA_ABI = Abi.from([
  "function tokenParams(uint256) view returns (uint256 scaler, uint256 quadratic, uint256 linear, bool, uint256, uint256, uint256, address, address, address token)",
]);
/** Arena counts whole tokens. */
const WHOLE = powerOfTen(18);

/** Decoders of the events, by their signatures. */
const readers: PoolForm["readers"] = {
  "TokenCreate(address,address,uint256,string,string,uint256,uint256,uint256)": (log) =>
    countWords(log.data) < 8 ? undefined : readCurveMove(log, "launched", 1),
  "TokenPurchase(address,address,uint256,uint256,uint256,uint256,uint256,uint256)": (log) =>
    readFourMemeSwap(log, true),
  "TokenSale(address,address,uint256,uint256,uint256,uint256,uint256,uint256)": (log) =>
    readFourMemeSwap(log, false),
  "LiquidityAdded(address,uint256,address,uint256)": (log) =>
    isShaped(log, 1, 4) ? readCurveMove(log, "graduated", 0) : undefined,
  "TokenCreated(uint256,address,uint256,address,string,string,string)": (log) =>
    countWords(log.data) < 7 ? undefined : readCurveMove(log, "launched", 3),
  "TokenBought(uint256,address,address,uint256,uint256,uint256,uint256)": (log) => readFlapSwap(log, true),
  "TokenSold(uint256,address,address,uint256,uint256,uint256,uint256)": (log) => readFlapSwap(log, false),
  "LaunchedToDEX(address,address,uint256,uint256)": (log) =>
    isShaped(log, 1, 4) ? readCurveMove(log, "graduated", 0) : undefined,
  "TokenCreated(uint256,(uint128,uint16,uint8,bool,uint8,uint8,uint8,address,address,address),uint256)": (
    log,
  ) => (isShaped(log, 1, 12) ? { kind: "launched", form: "curve", pool: numberOf(log, 0) } : undefined),
  "Buy(address,uint256,uint256,uint256,uint256,address,uint256,uint256,uint256)": (log) =>
    readArenaSwap(log, true),
  "Sell(address,uint256,uint256,uint256,uint256,address,uint256,uint256,uint256)": (log) =>
    readArenaSwap(log, false),
  "TokenLPCreated(uint256,uint256,uint256,uint256)": (log) =>
    isShaped(log, 1, 4) ? { kind: "graduated", form: "curve", pool: numberOf(log, 0) } : undefined,
};

/** The funds of a curve. Its token is side 0, the quote token side 1. */
class CurveState implements PoolState {
  isFresh = false;
  readonly #shape: CurveShape | undefined;
  #funds: bigint | undefined;

  /** @param shape Without one, the logs report the funds. */
  constructor(shape?: CurveShape) {
    this.#shape = shape;
  }

  apply(event: PoolEvent): Cause | undefined {
    if (event.kind === "launched") this.isFresh = true;
    if (event.kind === "launched" || event.kind === "graduated") this.#funds = 0n;
    if (event.kind === "swap" && event.curve) this.#funds = this.#fundsAfter(event.curve);
    if (event.kind === "launched") return "add";
    return event.kind === "graduated" ? "remove" : "sync";
  }

  depth(side: 0 | 1): bigint | undefined {
    return side === 1 ? this.#funds : undefined;
  }

  ratio(): undefined {
    return undefined;
  }

  #fundsAfter({ funds, price = 0n, sold = 0n }: NonNullable<Swap["curve"]>): bigint | undefined {
    if (funds !== undefined || !this.#shape) return funds;
    if ("scaler" in this.#shape) {
      const { scaler, quadratic, linear } = this.#shape;
      return (sold * sold * (2n * quadratic * sold + 3n * linear)) / (6n * scaler);
    }
    const { virtualFunds, invariant } = this.#shape;
    const after = squareRoot(invariant * price) - virtualFunds;
    return after > 0n ? after : 0n;
  }
}

export const CURVE: PoolForm = {
  readers,
  isSingleton: true,
  create: () => new CurveState(),
  find: noPools,
  *identify({ pool, emitter }, factories) {
    const look = LOOKS[factories.get(emitter)?.form ?? ""];
    const identity = look && (yield* look(emitter, pool));
    return identity && { pool, form: "curve", factory: emitter, ...identity };
  },
  // Each log reports the whole state.
  // biome-ignore lint/correctness/useYield: it makes no calls.
  *readState({ curve }) {
    return new CurveState(curve);
  },
};

/** Reads a curve's token and quote token, and its shape if needed, by the form of the launchpad. */
type Look = (
  launchpad: string,
  pool: string,
) => Inquiry<Pick<PoolIdentity, "token0" | "token1" | "curve"> | undefined>;

const LOOKS: Readonly<Record<string, Look>> = {
  *"four-meme"(address, pool) {
    const call = { abi: FOUR_MEME_ABI, address, functionName: "_tokenInfos", args: [pool] };
    const [base, quote] = factsOf(yield [call]);
    return isAddress(quote) && isSame(base, pool) ? { token0: pool, token1: quote.toLowerCase() } : undefined;
  },
  *flap(address, pool) {
    const call = { abi: FLAP_ABI, address, functionName: "getTokenV5", args: [pool] };
    const [, , , , , virtualFunds, , invariant, , quote] = factsOf(yield [call]);
    if (!isAddress(quote)) return undefined;
    const tokens = { token0: pool, token1: quote.toLowerCase() };
    if (typeof virtualFunds !== "bigint" || typeof invariant !== "bigint") return tokens;
    return { ...tokens, curve: { virtualFunds, invariant } };
  },
  *arena(address, pool) {
    const call = { abi: ARENA_ABI, address, functionName: "tokenParams", args: [BigInt(pool)] };
    const [scaler, quadratic, linear, , , , , , , token] = factsOf(yield [call]);
    const token0 = addressOf(token);
    if (token0 === undefined || typeof scaler !== "bigint" || scaler === 0n) return undefined;
    if (typeof quadratic !== "bigint" || typeof linear !== "bigint") return undefined;
    return { token0, token1: NATIVE_COIN, curve: { scaler, quadratic, linear } };
  },
};

function factsOf([result]: readonly Result[]): readonly unknown[] {
  return Array.isArray(result) ? result : [];
}

function isSame(result: unknown, address: string): boolean {
  return isAddress(result) && result.toLowerCase() === address;
}

function readCurveMove(log: EvmLog, kind: CurveMove["kind"], word: number): CurveMove | undefined {
  const pool = readAddress(log.data, word);
  return pool === undefined || log.topics.length !== 1 ? undefined : { kind, form: "curve", pool };
}

/** Returns a curve's number, in 32 bytes. */
function numberOf({ data }: EvmLog, word: number): string {
  return `0x${data.slice(2 + 64 * word, 66 + 64 * word)}`;
}

/**
 * The words: account, number, whole tokens, cost with the fees or reward before them, tokens sold
 * in all, referrer and three fees.
 */
function readArenaSwap(log: EvmLog, isBuy: boolean): Swap | undefined {
  if (!isShaped(log, 1, 9)) return undefined;
  const account = readAddress(log.data, 0);
  const paid = readUint(log.data, 3);
  const cost = isBuy ? paid - readUint(log.data, 6) - readUint(log.data, 7) - readUint(log.data, 8) : paid;
  const curve = { sold: readUint(log.data, 4) };
  return swapOf(numberOf(log, 1), account, readUint(log.data, 2) * WHOLE, cost, isBuy, curve);
}

/** The words: token, account, price, amount, cost without the fee, fee, tokens left, funds. */
function readFourMemeSwap(log: EvmLog, isBuy: boolean): Swap | undefined {
  if (!isShaped(log, 1, 8)) return undefined;
  const [token, account] = [readAddress(log.data, 0), readAddress(log.data, 1)];
  const curve = { funds: readUint(log.data, 7) };
  return swapOf(token, account, readUint(log.data, 3), readUint(log.data, 4), isBuy, curve);
}

/** The words: time, token, account, amount, quote amount, fee, price. */
function readFlapSwap(log: EvmLog, isBuy: boolean): Swap | undefined {
  if (!isShaped(log, 1, 7)) return undefined;
  const [token, account] = [readAddress(log.data, 1), readAddress(log.data, 2)];
  const curve = { price: readUint(log.data, 6) };
  return swapOf(token, account, readUint(log.data, 3), readUint(log.data, 4), isBuy, curve);
}

function swapOf(
  pool: string | undefined,
  account: string | undefined,
  tokens: bigint,
  quotes: bigint,
  isBuy: boolean,
  curve: NonNullable<Swap["curve"]>,
): Swap | undefined {
  if (pool === undefined || account === undefined) return undefined;
  const [amount0, amount1] = isBuy ? [-tokens, quotes] : [tokens, -quotes];
  return { kind: "swap", form: "curve", pool, account, amount0, amount1, curve };
}
