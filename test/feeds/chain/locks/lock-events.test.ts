import * as Abi from "ox/Abi";
import { expect, test } from "vitest";
import type { LocksEvent } from "../../../../src/base/market/index.ts";
import { NETWORKS } from "../../../../src/feeds/chain/networks.ts";
import { BlockTranslator } from "../../../../src/feeds/chain/pools/block-translator.ts";
import type { EvmLog } from "../../../../src/feeds/chain/pools/evm-log.ts";
import { encodeEvent } from "../../../support/world/encoded-event.ts";
import { Collector, eventsOf } from "../market/collect.ts";
import { E18, Exchange } from "../market/exchange.ts";
import { describeOnAnvil } from "../nodes/anvil.ts";
import { OWNER, wallet } from "../nodes/test-chain.ts";

/*
 * Logs as viem encodes them from the published signatures: Uniswap V2's pairs, UNCX, PinkLock, Team
 * Finance and GoPlus.
 */
const ABI = Abi.from([
  "event PairCreated(address indexed token0, address indexed token1, address pair, uint256 count)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event Sync(uint112 reserve0, uint112 reserve1)",
  "event Mint(address indexed sender, uint256 amount0, uint256 amount1)",
  "event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)",
  "event onDeposit(address lpToken, address user, uint256 amount, uint256 lockDate, uint256 unlockDate)",
  "event onNewLock(uint256 lockID, address lpToken, address owner, uint256 amount, uint256 lockDate, uint256 unlockDate, uint16 countryCode)",
  "event LockAdded(uint256 indexed id, address token, address owner, uint256 amount, uint256 unlockDate)",
  "event LockUpdated(uint256 indexed id, address token, address owner, uint256 newAmount, uint256 newUnlockDate)",
  "event LockRemoved(uint256 indexed id, address token, address owner, uint256 amount, uint256 unlockedAt)",
  "event Deposit(uint256 id, address indexed tokenAddress, address indexed withdrawalAddress, uint256 amount, uint256 unlockTime)",
  "event LockDurationExtended(uint256 id, uint256 unlockTime)",
  "event LockSplit(uint256 id, uint256 remainingAmount, uint256 splitLockId, uint256 newSplitLockAmount)",
  "event OnLock(uint256 indexed lockId, address token, address owner, uint256 amount, uint256 endTime)",
  "event OnRelock(uint256 indexed lockId, uint256 endTime)",
]);
const NOBODY = "0x0000000000000000000000000000000000000000";
const DEAD = "0x000000000000000000000000000000000000dead";
const [TOKEN, PAIR, MAKER, FEE_RECEIVER] = [wallet(1), wallet(3), wallet(5), wallet(6)];
const UNCX = "0xc765bddb93b0d1c1a88282ba0fa6b2d00e3e0c83";
const PINK_LOCK = "0x407993575c91ce7643a4d4ccacc9a98c36ee1bbe";
const TEAM_FINANCE = "0x0c89c0407775dd89b12918b9c0aa42bf96518820";
const GO_PLUS = "0xf17a08a7d41f53b24ad07eb322cbbda2ebdec04b";
/** The UNCX locker of Polygon, which is another contract on BSC. */
const ELSEWHERE = "0xadb2437e6f65682b85f814fbc12fec0508a7b1d0";
const [FACTORY, DOLLAR] = [NETWORKS.bsc.factories[0].address, NETWORKS.bsc.quotes[1].address];
const DAY_S = 86_400n;
const NOW_MS = Date.UTC(2026, 10, 29);
const NOW_S = BigInt(NOW_MS / 1_000);

type Args = Readonly<Record<string, unknown>>;
type Emitted = readonly [emitter: string, name: string, args: Args];

/** A pair whose maker has 1,000 units. Each block is a second after the one before. */
class Pair {
  readonly translator = new BlockTranslator(NETWORKS.bsc);
  #blocks = 0;

  /** Returns the holders that the block makes known, if any. */
  block(...transactions: readonly (readonly Emitted[])[]): Pick<LocksEvent, "burned" | "held"> | undefined {
    const atMs = NOW_MS + 1_000 * this.#blocks++;
    let logIndex = 0;
    const logs = transactions.flatMap((emitted, index) =>
      emitted.map((one): EvmLog => logOf(one, logIndex++, `0x${this.#blocks}${index}`)),
    );
    const block = { number: this.#blocks, hash: "0x", parentHash: "0x", atMs, logs };
    const events = this.translator.translate(this.translator.read(block));
    const [locks, ...more] = events.filter(({ kind }) => kind === "locks");
    expect(more).toEqual([]);
    if (locks?.kind !== "locks") return undefined;
    const { burned, held, ...named } = locks;
    expect(named).toEqual({ kind: "locks", at: atMs, group: "bsc", pool: PAIR, token: TOKEN });
    return { burned, held };
  }

  static open(mintedTo: string = MAKER): Pair {
    const pair = new Pair();
    const facts = { address: TOKEN, decimals: 18, symbol: undefined, name: undefined };
    pair.translator.pools.learnToken(TOKEN, facts);
    const [tokens, dollars] = [1_000n * E18, 5_000n * E18];
    const [first, second] = TOKEN < DOLLAR ? [TOKEN, DOLLAR] : [DOLLAR, TOKEN];
    const [reserve0, reserve1] = TOKEN < DOLLAR ? [tokens, dollars] : [dollars, tokens];
    const shares = pair.block([
      [FACTORY, "PairCreated", { token0: first, token1: second, pair: PAIR, count: 1n }],
      moved(NOBODY, NOBODY, 1_000n),
      moved(NOBODY, mintedTo, 1_000n),
      [PAIR, "Sync", { reserve0, reserve1 }],
      [PAIR, "Mint", { sender: MAKER, amount0: reserve0, amount1: reserve1 }],
    ]);
    expect(shares?.burned).toBe(mintedTo === MAKER ? 0 : 1);
    return pair;
  }
}

function logOf([address, eventName, args]: Emitted, logIndex: number, transactionHash: string): EvmLog {
  const { topics, data } = encodeEvent(ABI, eventName, args);
  return { address, topics, data, logIndex, transactionHash, origin: MAKER };
}

function moved(from: string, to: string, value: bigint): Emitted {
  return [PAIR, "Transfer", { from, to, value }];
}

/** The end of a lock of this many days, in seconds and in milliseconds. */
function inDays(days: bigint) {
  const seconds = NOW_S + days * DAY_S;
  return { seconds, ms: Number(seconds) * 1_000 };
}

test("the holders are published with the listing, and not again while nothing changes", () => {
  const pair = Pair.open();
  expect(pair.block([[PAIR, "Sync", { reserve0: E18, reserve1: E18 }]])).toBeUndefined();
});

test.each([NOBODY, DEAD])("liquidity that is minted or sent to %s is burned", (address) => {
  Pair.open(address);
  expect(Pair.open().block([moved(MAKER, address, 500n)])).toEqual({ burned: 0.5, held: [] });
});

const until = inDays(30n);
const LOCK = { lpToken: PAIR, token: PAIR, tokenAddress: PAIR, user: MAKER, owner: MAKER };
const COMMON = { ...LOCK, withdrawalAddress: MAKER, lockDate: NOW_S, countryCode: 0 };
const UNTIL = { unlockDate: until.seconds, unlockTime: until.seconds, endTime: until.seconds };
const IDS = { id: 7n, lockID: 7n, lockId: 7n };

test.each([
  ["UNCX", UNCX, "onDeposit"],
  ["the newer UNCX", UNCX, "onNewLock"],
  ["PinkLock", PINK_LOCK, "LockAdded"],
  ["Team Finance", TEAM_FINANCE, "Deposit"],
  ["GoPlus", GO_PLUS, "OnLock"],
])("a lock at %s holds its share until its term", (_, locker, name) => {
  const lock: Emitted = [locker, name, { ...COMMON, ...IDS, ...UNTIL, amount: 900n }];
  const held = [{ share: 0.9, until: until.ms }];
  expect(Pair.open().block([moved(MAKER, locker, 900n), lock])).toEqual({ burned: 0, held });
  // A locker may report before it gets the tokens.
  expect(Pair.open().block([lock, moved(MAKER, locker, 900n)])).toEqual({ burned: 0, held });
});

test("the fee of UNCX leaves the locker before the lock is reported, and is free", () => {
  const lock: Emitted = [UNCX, "onDeposit", { ...COMMON, ...UNTIL, amount: 990n }];
  const transaction = [moved(MAKER, UNCX, 1_000n), moved(UNCX, FEE_RECEIVER, 10n), lock];
  expect(Pair.open().block(transaction)).toEqual({ burned: 0, held: [{ share: 0.99, until: until.ms }] });
});

test("a locker's tokens without a report have no term, and a contract that is no locker here holds nothing", () => {
  expect(Pair.open().block([moved(MAKER, PINK_LOCK, 400n)])).toEqual({
    burned: 0,
    held: [{ share: 0.4, until: null }],
  });
  const lock: Emitted = [ELSEWHERE, "onDeposit", { ...COMMON, ...UNTIL, amount: 900n }];
  expect(Pair.open().block([moved(MAKER, ELSEWHERE, 900n), lock])).toBeUndefined();
});

test("a lock is extended, split and withdrawn", () => {
  const pair = Pair.open();
  const later = inDays(60n);
  pair.block([
    moved(MAKER, TEAM_FINANCE, 900n),
    [TEAM_FINANCE, "Deposit", { ...COMMON, ...IDS, ...UNTIL, amount: 900n }],
  ]);
  const split = { id: 7n, remainingAmount: 600n, splitLockId: 8n, newSplitLockAmount: 300n };
  expect(pair.block([[TEAM_FINANCE, "LockSplit", split]])).toBeUndefined();
  const extended: Emitted = [TEAM_FINANCE, "LockDurationExtended", { id: 8n, unlockTime: later.seconds }];
  expect(pair.block([extended])?.held).toEqual([
    { share: 0.6, until: until.ms },
    { share: 0.3, until: later.ms },
  ]);
  expect(pair.block([moved(TEAM_FINANCE, MAKER, 600n)])?.held).toEqual([{ share: 0.3, until: later.ms }]);
  expect(pair.block([moved(TEAM_FINANCE, MAKER, 300n)])).toEqual({ burned: 0, held: [] });
});

test("PinkLock changes a lock's amount and term, and GoPlus its term", () => {
  const pair = Pair.open();
  const later = inDays(90n);
  pair.block([
    moved(MAKER, PINK_LOCK, 500n),
    [PINK_LOCK, "LockAdded", { ...COMMON, ...IDS, ...UNTIL, amount: 500n }],
  ]);
  const update = { ...COMMON, ...IDS, newAmount: 700n, newUnlockDate: later.seconds };
  expect(pair.block([moved(MAKER, PINK_LOCK, 200n), [PINK_LOCK, "LockUpdated", update]])?.held).toEqual([
    { share: 0.7, until: later.ms },
  ]);
  const goPlus = Pair.open();
  goPlus.block([
    moved(MAKER, GO_PLUS, 500n),
    [GO_PLUS, "OnLock", { ...COMMON, ...IDS, ...UNTIL, amount: 500n }],
  ]);
  const relock: Emitted = [GO_PLUS, "OnRelock", { lockId: 7n, endTime: later.seconds }];
  expect(goPlus.block([relock])?.held).toEqual([{ share: 0.5, until: later.ms }]);
});

test("a lock for ever ends at the last time there is", () => {
  const forever = { ...COMMON, ...IDS, amount: 900n, unlockDate: 2n ** 256n - 1n };
  const shares = Pair.open().block([moved(MAKER, PINK_LOCK, 900n), [PINK_LOCK, "LockAdded", forever]]);
  expect(shares?.held).toEqual([{ share: 0.9, until: Date.UTC(9999, 11, 31, 23, 59, 59, 999) }]);
});

test("fees that the pair mints lower a share, which is news at more than a percent", () => {
  const pair = Pair.open();
  pair.block([moved(MAKER, UNCX, 1_000n), [UNCX, "onDeposit", { ...COMMON, ...UNTIL, amount: 1_000n }]]);
  const mint = (units: bigint) => pair.block([moved(NOBODY, FEE_RECEIVER, units)]);
  expect(mint(9n)).toBeUndefined();
  expect(mint(31n)?.held).toEqual([{ share: 0.961538, until: until.ms }]);
});

test("a pair that existed before starts with its balances, and later logs change them", () => {
  const pair = Pair.open();
  const balances = new Map([
    [NOBODY, 1_000n],
    [DEAD, 200n],
    [UNCX, 300n],
  ]);
  pair.translator.locks.learn({ pair: PAIR, supply: 2_000n, balances, atBlock: 2 });
  // The second block's logs are part of that state.
  const sync: Emitted = [PAIR, "Sync", { reserve0: E18, reserve1: E18 }];
  expect(pair.block([moved(MAKER, DEAD, 500n), sync])).toEqual({
    burned: 0.2,
    held: [{ share: 0.3, until: null }],
  });
  expect(pair.block([moved(UNCX, MAKER, 300n)])).toEqual({ burned: 0.2, held: [] });
});

test("the terms that a reader of earlier blocks saw are taken over", () => {
  const earlier = Pair.open();
  earlier.block([
    moved(MAKER, PINK_LOCK, 500n),
    [PINK_LOCK, "LockAdded", { ...COMMON, ...IDS, ...UNTIL, amount: 500n }],
  ]);
  const pair = Pair.open();
  pair.block([moved(MAKER, PINK_LOCK, 500n)]);
  pair.translator.locks.adopt(earlier.translator.locks);
  expect(pair.block([])?.held).toEqual([{ share: 0.5, until: until.ms }]);
  const update = { ...COMMON, ...IDS, newAmount: 500n, newUnlockDate: inDays(40n).seconds };
  expect(pair.block([[PINK_LOCK, "LockUpdated", update]])?.held).toEqual([
    { share: 0.5, until: inDays(40n).ms },
  ]);
});

describeOnAnvil("the holders of LP tokens on a real EVM", () => {
  test("[exact] follow burns and removals from the pair's creation, and later from its contract", async () => {
    const exchange = await Exchange.open();
    await using chain = exchange.chain;
    const { coin, network } = exchange;
    const token = await exchange.token("Alpha", "ALPHA");
    await exchange.addV2(token, 4_000n * E18, coin, 1_000n * E18);
    await chain.mine();
    const pair = await exchange.pairOf(token, coin);
    const units = BigInt(await chain.read(pair, "v2Pair", "balanceOf", [OWNER]));
    await chain.send(OWNER, pair, "v2Pair", "transfer", [DEAD, units / 4n]);
    await chain.mine();
    const laterMs = chain.nextAt * 1_000;
    await exchange.removeV2(token, coin, 3_333n);
    await chain.mine();
    const sharesOf = (events: Collector["events"]) =>
      events.flatMap((event) => (event.kind === "locks" ? [[event.burned, event.held]] : []));
    const untilMs = chain.nextAt * 1_000;
    await eventsOf(exchange);
    for (const resumeAfterMs of [undefined, laterMs]) {
      await using collector = new Collector({ network, ...(resumeAfterMs && { resumeAfterMs }) });
      await collector.reached(untilMs);
      const seen = sharesOf(collector.events);
      const burned = [0, 0.25, 0.333322].slice(resumeAfterMs ? 2 : 0);
      expect(seen).toEqual(burned.map((share) => [share, []]));
    }
  });
});
