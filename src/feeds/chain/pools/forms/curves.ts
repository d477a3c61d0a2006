import { parseAbi } from "viem";
import { countWords, type EvmLog, readAddress, readUint } from "../evm-log.ts";
import { squareRoot } from "../exact-decimal.ts";
import {
  type Call,
  type Cause,
  type CurveShape,
  isAddress,
  noPools,
  type PoolForm,
  type PoolState,
} from "./pool-form.ts";
import { type CurveMove, isShaped, type PoolEvent, type Swap } from "./pool-log.ts";

/*
 * Launchpads: one contract sells each of its tokens along a bonding curve, and moves the funds to
 * a pool of an exchange when enough was sold. A curve's id is the address of its token. No
 * argument of the events is indexed, and the events name the traders. The creation event does not
 * name the quote token, so it is read from the contract.
 *
 * - four.meme: https://github.com/pefish/go-coin-eth/tree/main/fourmeme-lib has its document of
 *   30 October 2025. Its first manager contract is obsolete and not followed.
 * - flap: https://docs.flap.sh/flap/developers/wallet-and-terminal-and-bot-developers/trade-tokens
 *
 * The depth of a curve is its funds, because sellers can get no more. A token that nobody has
 * bought yet has no depth, whatever its price.
 */

const FOUR_MEME_ABI = parseAbi([
  // The first two of thirteen words.
  "function _tokenInfos(address) view returns (address base, address quote)",
]);
const FLAP_ABI = parseAbi([
  "function getTokenV5(address) view returns (uint8 status, uint256 reserve, uint256 supply, uint256 price, uint8 version, uint256 r, uint256 h, uint256 k, uint256 threshold, address quote)",
]);

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

  #fundsAfter({ funds, price = 0n }: NonNullable<Swap["curve"]>): bigint | undefined {
    if (funds !== undefined || !this.#shape) return funds;
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
    const form = factories.get(emitter)?.form;
    const isFlap = form === "flap";
    const [result] = yield [
      isFlap
        ? callOf(FLAP_ABI, emitter, "getTokenV5", pool)
        : callOf(FOUR_MEME_ABI, emitter, "_tokenInfos", pool),
    ];
    const facts: readonly unknown[] = Array.isArray(result) ? result : [];
    const quote = facts[isFlap ? 9 : 1];
    if (!isAddress(quote) || (!isFlap && !isSame(facts[0], pool))) return undefined;
    const common = {
      pool,
      form: "curve",
      factory: emitter,
      token0: pool,
      token1: quote.toLowerCase(),
    } as const;
    const [virtualFunds, invariant] = [facts[5], facts[7]];
    if (!isFlap || typeof virtualFunds !== "bigint" || typeof invariant !== "bigint") return common;
    return { ...common, curve: { virtualFunds, invariant } };
  },
  // Each log reports the whole state.
  // biome-ignore lint/correctness/useYield: it makes no calls.
  *readState({ curve }) {
    return new CurveState(curve);
  },
};

function callOf(abi: Call["abi"], address: string, functionName: string, token: string): Call {
  return { abi, address, functionName, args: [token] };
}

function isSame(result: unknown, address: string): boolean {
  return isAddress(result) && result.toLowerCase() === address;
}

function readCurveMove(log: EvmLog, kind: CurveMove["kind"], word: number): CurveMove | undefined {
  const pool = readAddress(log.data, word);
  return pool === undefined || log.topics.length !== 1 ? undefined : { kind, form: "curve", pool };
}

/** The words: token, account, price, amount, cost without the fee, fee, tokens left, funds. */
function readFourMemeSwap(log: EvmLog, isBuy: boolean): Swap | undefined {
  if (!isShaped(log, 1, 8)) return undefined;
  return swapOf(log, 0, readUint(log.data, 3), readUint(log.data, 4), isBuy, {
    funds: readUint(log.data, 7),
  });
}

/** The words: time, token, account, amount, quote amount, fee, price. */
function readFlapSwap(log: EvmLog, isBuy: boolean): Swap | undefined {
  if (!isShaped(log, 1, 7)) return undefined;
  return swapOf(log, 1, readUint(log.data, 3), readUint(log.data, 4), isBuy, {
    price: readUint(log.data, 6),
  });
}

/** Reads a swap. Its token is the word `first`, its account the next word. */
function swapOf(
  log: EvmLog,
  first: number,
  tokens: bigint,
  quotes: bigint,
  isBuy: boolean,
  curve: NonNullable<Swap["curve"]>,
): Swap | undefined {
  const pool = readAddress(log.data, first);
  const account = readAddress(log.data, first + 1);
  if (pool === undefined || account === undefined) return undefined;
  const [amount0, amount1] = isBuy ? [-tokens, quotes] : [tokens, -quotes];
  return { kind: "swap", form: "curve", pool, account, amount0, amount1, curve };
}
