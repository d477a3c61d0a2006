import fc from "fast-check";
import * as Abi from "ox/Abi";
import * as AbiEvent from "ox/AbiEvent";
import type { Hex } from "ox/Hex";
import { describe, expect, test } from "vitest";
import { decodeLog, EVENT_READERS } from "../../../../src/feeds/chain/pools/decode.ts";
import type { EvmLog } from "../../../../src/feeds/chain/pools/evm-log.ts";
import { CURVE } from "../../../../src/feeds/chain/pools/forms/curves.ts";
import type { PoolLog } from "../../../../src/feeds/chain/pools/forms/pool-log.ts";
import { encodeEvent } from "../../../support/world/encoded-event.ts";
import { recordedLogs } from "../nodes/recorded-blocks.ts";

const ABI = Abi.from([
  "event PairCreated(address indexed token0, address indexed token1, address pair, uint serial)",
  "event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)",
  "event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool)",
  "event PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256 serial)",
  "event Pool(address indexed token0, address indexed token1, address pool)",
  "event CustomPool(address indexed deployer, address indexed token0, address indexed token1, address pool)",
  "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 overrideFee, uint24 pluginFee)",
  "event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1, uint24 pluginFee)",
  "event PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint serial)",
  "event Sync(uint256 reserve0, uint256 reserve1)",
  "event Sync(uint112 reserve0, uint112 reserve1)",
  "event Swap(address indexed sender, uint amount0In, uint amount1In, uint amount0Out, uint amount1Out, address indexed to)",
  "event Swap(address indexed sender, address indexed to, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out)",
  "event Mint(address indexed sender, uint amount0, uint amount1)",
  "event Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1)",
  "event Burn(address indexed sender, uint amount0, uint amount1, address indexed to)",
  "event Initialize(uint160 sqrtPriceX96, int24 tick)",
  "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)",
  "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1)",
  "event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Mint(address sender, address indexed owner, uint256 index, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)",
  "event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)",
  "event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)",
  "event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, address hooks, uint24 fee, bytes32 parameters, uint160 sqrtPriceX96, int24 tick)",
  "event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee, uint16 protocolFee)",
  "event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)",
]);

/** The events of pools of bins. Their decoders are tested with the contracts. */
const BIN_ABI = Abi.from([
  "event LBPairCreated(address indexed tokenX, address indexed tokenY, uint256 indexed binStep, address LBPair, uint256 pid)",
  "event Swap(address indexed sender, address indexed to, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24 volatilityAccumulator, bytes32 totalFees, bytes32 protocolFees)",
  "event DepositedToBins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts)",
  "event WithdrawnFromBins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts)",
  "event Swap(address indexed sender, address indexed recipient, uint256 indexed id, bool swapForY, uint256 amountIn, uint256 amountOut, uint256 volatilityAccumulated, uint256 fees)",
  "event DepositedToBin(address indexed sender, address indexed recipient, uint256 indexed id, uint256 amountX, uint256 amountY)",
  "event WithdrawnFromBin(address indexed sender, address indexed recipient, uint256 indexed id, uint256 amountX, uint256 amountY)",
  "event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, address hooks, uint24 fee, bytes32 parameters, uint24 activeId)",
  "event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 activeId, uint24 fee, uint16 protocolFee)",
  "event Mint(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts, bytes32 compositionFeeAmount, bytes32 feeAmountToProtocol)",
  "event Burn(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts)",
]);

/** Decodes a log independently, with the general decoder of a library. */
function expected(log: EvmLog): PoolLog | undefined {
  const entry = ABI.find((one) => AbiEvent.getSelector(one) === log.topics[0]);
  if (!entry) return undefined;
  try {
    const [topic = "0x", ...rest] = log.topics as Hex[];
    const args = AbiEvent.decode<AbiEvent.AbiEvent>(entry, {
      topics: [topic, ...rest],
      data: log.data as Hex,
    });
    const eventName = entry.name;
    const values = args as unknown as Record<string, never>;
    const { amount0, amount1 } = values;
    const isV2 = entry.inputs.every((input) => input.type !== "int24");
    const form = isV2 ? ("v2" as const) : ("v3" as const);
    if (eventName === "Sync")
      return {
        kind: "sync",
        form: "v2",
        reserve0: values.reserve0 as never,
        reserve1: values.reserve1 as never,
      };
    if (eventName === "Mint" || eventName === "Burn" || eventName === "Collect") {
      const kind = { Mint: "mint", Burn: "burn", Collect: "collect" } as const;
      const move = { kind: kind[eventName], form, amount0: amount0 as never, amount1: amount1 as never };
      const { tickLower: lower, tickUpper: upper, amount: liquidity } = values;
      if (isV2 || eventName === "Collect") return move;
      return {
        ...move,
        position: { lower: lower as never, upper: upper as never, liquidity: liquidity as never },
      };
    }
    if (eventName === "ModifyLiquidity") {
      const {
        tickLower: lower,
        tickUpper: upper,
        liquidityDelta: liquidity,
      } = values as Record<string, never>;
      return { kind: "position", form: "positions", lower, upper, liquidity } as unknown as PoolLog;
    }
    const { sqrtPriceX96, tick, liquidity = 0n } = values as unknown as Record<string, never>;
    const range = { sqrtPriceX96: sqrtPriceX96 as never, tick: tick as never, liquidity: liquidity as never };
    const { id, currency0 = "", currency1 = "" } = values as Record<string, string>;
    if (eventName === "Initialize" && id !== undefined)
      return {
        kind: "created",
        form: "positions",
        factory: log.address,
        pool: id,
        token0: currency0.toLowerCase(),
        token1: currency1.toLowerCase(),
        range,
      };
    if (eventName === "Swap" && id !== undefined) {
      // These are the swapper's amounts. Other pools report their own.
      const paid = { amount0: -(amount0 ?? 0n), amount1: -(amount1 ?? 0n) };
      return { kind: "swap", form: "positions", ...paid, range };
    }
    if (eventName === "Initialize") return { kind: "initialized", form: "v3", range };
    if (eventName === "Swap" && !isV2) {
      return {
        kind: "swap",
        form,
        amount0: amount0 as never,
        amount1: amount1 as never,
        range,
      };
    }
    if (eventName === "Swap") {
      const {
        amount0In = 0n,
        amount1In = 0n,
        amount0Out = 0n,
        amount1Out = 0n,
      } = values as Record<string, bigint>;
      return { kind: "swap", form, amount0: amount0In - amount0Out, amount1: amount1In - amount1Out };
    }
    const { token0 = "", token1 = "", pair, pool } = values as Record<string, string>;
    return {
      kind: "created",
      form: eventName === "PairCreated" || "stable" in values ? "v2" : "v3",
      factory: log.address,
      pool: (pair ?? pool ?? "").toLowerCase(),
      token0: token0.toLowerCase(),
      token1: token1.toLowerCase(),
    };
  } catch {
    return undefined;
  }
}

describe("logs of pools", () => {
  test("[topics] exactly the declared events have a decoder", () => {
    // The launchpads' events have their own tests.
    const curves = Object.keys(CURVE.readers).map((signature) => AbiEvent.getSelector(signature));
    const all = [...ABI, ...BIN_ABI].map((entry) => AbiEvent.getSelector(entry));
    expect(new Set([...all, ...curves])).toEqual(new Set(EVENT_READERS.keys()));
  });

  test.each([
    ["ethereum-18000000", { "sync v2": 27, "swap v2": 27, "swap v3": 2 }],
    [
      "ethereum-18500000",
      { "sync v2": 33, "swap v2": 34, "swap v3": 22, "mint v3": 1, "burn v3": 1, "collect v3": 1 },
    ],
    ["polygon-50000000", { "swap v3": 4 }],
  ] as const)("[exact] every log of block %s is decoded as by an independent decoder", (name, counts) => {
    const logs = recordedLogs(name);
    const read = logs.map(decodeLog);
    expect(read).toEqual(logs.map(expected));
    const kinds = read.flatMap((one) => (one ? [`${one.kind} ${"form" in one ? one.form : ""}`] : []));
    const counted = Object.groupBy(kinds, (kind) => kind);
    expect(Object.fromEntries(Object.entries(counted).map(([kind, all]) => [kind, all?.length]))).toEqual(
      counts,
    );
  });

  test("[exact] a real PancakeSwap V3 swap on BSC is decoded without its two extra fields", () => {
    const log = {
      address: "0x172fcd41e0913e95784454622d1c3724f546f849",
      topics: [
        "0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83",
        "0x0000000000000000000000007eded5ce04fd9bb6d125a0a470cc3ffcd972e182",
        "0x0000000000000000000000007eded5ce04fd9bb6d125a0a470cc3ffcd972e182",
      ],
      data: "0x0000000000000000000000000000000000000000000000001fcd5b7dda1ae49cfffffffffffffffffffffffffffffffffffffffffffffffffff22743d8dee16300000000000000000000000000000000000000000a8edeae49c411da42257f710000000000000000000000000000000000000000000310fdcabce7b0096dfc84ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff06e7000000000000000000000000000000000000000000000000000044c7374721670000000000000000000000000000000000000000000000000000000000000000",
      logIndex: 0x149,
      transactionHash: "0x858761c0e4a61c32c5f6bd133496217fa5eda316337b23d88702fea10bb95111",
      origin: "0x7eded5ce04fd9bb6d125a0a470cc3ffcd972e182",
    };
    expect(decodeLog(log)).toEqual({
      kind: "swap",
      form: "v3",
      amount0: 2_291_588_381_489_685_660n,
      amount1: -3_897_477_319_171_741n,
      range: {
        sqrtPriceX96: 3_267_569_145_006_787_006_069_833_585n,
        tick: -63_769,
        liquidity: 3_707_016_957_626_484_905_606_276n,
      },
    });
    expect(decodeLog(log)).toEqual(expected(log));
  });

  test("[exact] any event with any values survives encoding and decoding", () => {
    const sizes: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
      address: fc
        .bigInt({ min: 0n, max: (1n << 160n) - 1n })
        .map((value) => `0x${value.toString(16).padStart(40, "0")}`),
      bytes32: fc
        .bigInt({ min: 0n, max: (1n << 256n) - 1n })
        .map((value) => `0x${value.toString(16).padStart(64, "0")}`),
      // Stable pairs are ignored.
      bool: fc.constant(false),
      uint16: fc.nat((1 << 16) - 1),
      uint24: fc.nat((1 << 24) - 1),
      int128: fc.bigInt({ min: -(1n << 127n), max: (1n << 127n) - 1n }),
      int24: fc.integer({ min: -(1 << 23), max: (1 << 23) - 1 }),
      int256: fc.bigInt({ min: -(1n << 255n), max: (1n << 255n) - 1n }),
      ...Object.fromEntries(
        [112, 128, 160, 256].map((bits) => [
          `uint${bits}`,
          fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }),
        ]),
      ),
    };
    const anyLog = fc.constantFrom(...ABI).chain((entry) =>
      fc.tuple(...entry.inputs.map(({ type }) => sizes[type] ?? fc.constant(0n))).map((values): EvmLog => {
        const args = Object.fromEntries(entry.inputs.map(({ name }, index) => [name, values[index]]));
        const { topics, data } = encodeEvent([entry], entry.name, args);
        return {
          address: "0x00000000000000000000000000000000000000aa",
          topics,
          data,
          logIndex: 0,
          transactionHash: "0x",
          origin: "0x",
        };
      }),
    );
    fc.assert(
      fc.property(anyLog, (log) => {
        const read = decodeLog(log);
        expect(read).toBeDefined();
        expect(read).toEqual(expected(log));
      }),
    );
  });

  test("[edge] a log whose tick is not a signed 24-bit number is ignored", () => {
    const words = (tick: bigint) =>
      [1n, BigInt.asUintN(256, tick)].map((value) => value.toString(16).padStart(64, "0")).join("");
    const tickOf = (tick: bigint) => {
      const topics = [AbiEvent.getSelector("Initialize(uint160,int24)")];
      const log = { address: "0xaa", topics, data: `0x${words(tick)}`, logIndex: 0 };
      const read = decodeLog({ ...log, transactionHash: "0x", origin: "0x" });
      return read?.kind === "initialized" ? read.range.tick : undefined;
    };
    for (const tick of [0, 1, -1, 887_272, -887_272, 2 ** 23 - 1, -(2 ** 23)])
      expect(tickOf(BigInt(tick))).toBe(tick);
    for (const tick of [2n ** 23n, -(2n ** 23n) - 1n, 2n ** 24n, 2n ** 255n, 2n ** 256n - 2n ** 24n])
      expect(tickOf(tick)).toBeUndefined();
  });

  test("[edge] a stable pair of Solidly's form is ignored, because its reserves are not its price", () => {
    const topics = [
      AbiEvent.getSelector("PairCreated(address,address,bool,address,uint256)"),
      `0x${"1".padStart(64, "0")}`,
      `0x${"2".padStart(64, "0")}`,
    ];
    const read = (...words: readonly number[]) => {
      const data = `0x${words.map((value) => String(value).padStart(64, "0")).join("")}`;
      return decodeLog({ address: "0xaa", topics, data, logIndex: 0, transactionHash: "0x", origin: "0x" });
    };
    expect(read(0, 5, 1)).toMatchObject({
      kind: "created",
      form: "v2",
      pool: `0x${"5".padStart(40, "0")}`,
    });
    expect(read(1, 5, 1)).toBeUndefined();
  });

  test("[edge] a log of bins whose lists do not fit its data, or each other, is ignored", () => {
    const topics = [
      AbiEvent.getSelector("DepositedToBins(address,address,uint256[],bytes32[])"),
      `0x${"0".repeat(64)}`,
      `0x${"0".repeat(64)}`,
    ];
    const read = (...words: readonly bigint[]) => {
      const data = `0x${words.map((value) => value.toString(16).padStart(64, "0")).join("")}`;
      return decodeLog({ address: "0xaa", topics, data, logIndex: 0, transactionHash: "0x", origin: "0x" });
    };
    const amounts = (7n << 128n) | 5n;
    expect(read(64n, 128n, 1n, 9n, 1n, amounts)).toEqual({
      kind: "bins",
      form: "bins",
      isAdded: true,
      changes: [{ id: 9, amounts: [5n, 7n] }],
    });
    for (const words of [
      [64n, 128n, 1n, 9n, 2n, amounts],
      [64n, 128n, 1n, 1n << 24n, 1n, amounts],
      [64n, 128n, 2n, 9n, 1n, amounts],
      [65n, 128n, 1n, 9n, 1n, amounts],
      [64n, 1n << 200n, 1n, 9n, 1n, amounts],
      [64n, 128n, 1n << 200n, 9n, 1n, amounts],
      [64n],
      [],
    ])
      expect(read(...words)).toBeUndefined();
  });

  test("[edge] no number of topics and words makes a decoder throw", () => {
    const word = "f".repeat(64);
    for (const topic of EVENT_READERS.keys())
      for (let topics = 1; topics <= 4; topics++)
        for (let words = 0; words <= 10; words++) {
          const all = [topic, ...new Array<string>(topics - 1).fill(`0x${word}`)];
          const log = { address: "0xaa", topics: all, data: `0x${word.repeat(words)}`, logIndex: 0 };
          expect(() => decodeLog({ ...log, transactionHash: "0x", origin: "0x" })).not.toThrow();
        }
  });

  test("[edge] a log that is truncated, too long, out of range or without its topics is ignored", () => {
    const sync = (data: string, topics: string[] = [AbiEvent.getSelector("Sync(uint112,uint112)")]) =>
      decodeLog({ address: "0xaa", topics, data, logIndex: 0, transactionHash: "0x", origin: "0x" });
    const word = (value: bigint) => value.toString(16).padStart(64, "0");
    expect(sync(`0x${word(1n)}${word(2n)}`)).toEqual({
      kind: "sync",
      form: "v2",
      reserve0: 1n,
      reserve1: 2n,
    });
    expect(sync(`0x${word(1n)}${word(1n << 112n)}`)).toBeUndefined();
    expect(sync(`0x${word(1n)}`)).toBeUndefined();
    expect(sync(`0x${word(1n)}${word(2n)}ff`)).toBeUndefined();
    expect(sync("0x")).toBeUndefined();
    expect(sync(`0x${word(1n)}${word(2n)}`, [])).toBeUndefined();
    expect(
      sync(`0x${word(1n)}${word(2n)}`, [AbiEvent.getSelector("Sync(uint112,uint112)"), `0x${word(1n)}`]),
    ).toBeUndefined();
    const created = AbiEvent.getSelector("PairCreated(address,address,address,uint256)");
    const dirty = `0x01${word(5n).slice(2)}`;
    expect(sync(`0x${word(1n)}${word(2n)}`, [created, dirty, `0x${word(6n)}`])).toBeUndefined();
  });
});
