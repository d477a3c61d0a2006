import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as Abi from "ox/Abi";
import * as AbiConstructor from "ox/AbiConstructor";
import * as AbiFunction from "ox/AbiFunction";
import { keccak256 } from "ox/Hash";
import type * as Hex from "ox/Hex";
import { MULTICALL3 } from "../../../../src/feeds/chain/network.ts";
import { Anvil } from "./anvil.ts";
import { contractPackages } from "./contract-packages.ts";

/** A contract that can be deployed and called. */
export interface Contract {
  readonly abi: Abi.Abi;
  readonly bytecode: Hex.Hex;
}

/** The contract of a package, as the exchange deployed it. It is read at its first use. */
function packaged(path: string): Contract {
  let known: Contract | undefined;
  const read = (): Contract => {
    const text = readFileSync(join(contractPackages() ?? "", path), "utf8");
    const { abi, bytecode } = JSON.parse(text) as { abi: Abi.Abi; bytecode: string };
    return { abi, bytecode: bytecode.startsWith("0x") ? (bytecode as Hex.Hex) : `0x${bytecode}` };
  };
  const once = () => (known ??= read());
  return {
    get abi() {
      return once().abi;
    },
    get bytecode() {
      return once().bytecode;
    },
  };
}

const own = JSON.parse(
  readFileSync(new URL("../contracts/test-contracts.json", import.meta.url), "utf8"),
) as Record<string, Hex.Hex>;

function ours(name: string, abi: readonly string[]): Contract {
  return { abi: Abi.from(abi), bytecode: own[name] ?? "0x" };
}

const TOKEN = [
  "constructor(string, string, uint8, uint256, uint256)",
  "function approve(address, uint256)",
  "function transferFrom(address, address, uint256)",
  "function transfer(address, uint256)",
  "function balanceOf(address) view returns (uint256)",
];
const ROUTER = [
  "function mint(address, int24, int24, uint128)",
  "function mintAlgebra(address, int24, int24, uint128)",
  "function burn(address, int24, int24, uint128)",
  "function burnIntegral(address, int24, int24, uint128)",
  "function collect(address, int24, int24)",
  "function swap(address, bool, int256, uint160)",
];

/** The contracts that tests deploy. */
export const CONTRACTS = {
  v2Factory: packaged("@uniswap/v2-core/build/UniswapV2Factory.json"),
  v2Pair: packaged("@uniswap/v2-core/build/UniswapV2Pair.json"),
  v2Router: packaged("@uniswap/v2-periphery/build/UniswapV2Router02.json"),
  v3Factory: packaged("@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"),
  v3Pool: packaged("@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"),
  cakeFactory: packaged(
    "@pancakeswap/v3-core/artifacts/contracts/PancakeV3Factory.sol/PancakeV3Factory.json",
  ),
  cakePool: packaged("@pancakeswap/v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json"),
  cakeDeployer: ours("TestPoolDeployer", ["constructor(bytes)"]),
  algebraFactory: packaged(
    "@cryptoalgebra/v1-core/artifacts/contracts/AlgebraFactory.sol/AlgebraFactory.json",
  ),
  algebraDeployer: packaged(
    "@cryptoalgebra/v1-core/artifacts/contracts/AlgebraPoolDeployer.sol/AlgebraPoolDeployer.json",
  ),
  algebraPool: packaged("@cryptoalgebra/v1-core/artifacts/contracts/AlgebraPool.sol/AlgebraPool.json"),
  v3Router: ours("TestV3Router", ROUTER),
  batch: ours("TestBatch", ["function run(address[], bytes[])"]),
  launchpad: ours("TestLaunchpad", ["function launch(address, address)", "function report(bytes32, bytes)"]),
  token: ours("TestToken", TOKEN),
  oldToken: ours("OldToken", []),
  muteToken: ours("MuteToken", []),
  gasEater: ours("GasEater", []),
  // The creation code that viem 2.57.1 has of it, compiled by its author.
  multicall3: ours("Multicall3", []),
  noToken: ours("NoToken", []),
} as const;
type ContractName = keyof typeof CONTRACTS | Contract;

function contractOf(name: ContractName): Contract {
  return typeof name === "string" ? CONTRACTS[name] : name;
}

/** A contract, its address, one of its functions, and the arguments. */
export type Call = readonly [to: string, name: ContractName, functionName: string, args: readonly unknown[]];

const SMALL_GAS = "0x927c0";
const GAS = "0x989680";
const DEPLOY_GAS = "0x5f5e100";

/** The account that deploys. */
export const OWNER = "0x00000000000000000000000000000000000a11ce";

/** Returns the address of an unused account. */
export function wallet(number: number): string {
  return `0x${(0xbee0_0000 + number).toString(16).padStart(40, "0")}`;
}

interface Receipt {
  readonly status: string;
  readonly contractAddress: string;
  readonly transactionHash: string;
}

/** A chain on which the test can send transactions from any account. */
export class TestChain extends Anvil {
  /** Time of the next block, in seconds since 1970. */
  nextAt = 1_700_000_000;
  #pending: string[] = [];

  /** Starts a chain with Multicall3 where every real chain has it, from the first block on. */
  static async open(chainId: number): Promise<TestChain> {
    const chain = new TestChain(chainId);
    await chain.start();
    const code = await chain.ask("eth_call", [{ data: CONTRACTS.multicall3.bytecode }, "latest"]);
    await chain.ask("anvil_setCode", [MULTICALL3, code]);
    return chain;
  }

  /** Deploys a contract in its own block. Returns its address. */
  async deploy(name: ContractName, args: readonly unknown[] = []): Promise<string> {
    const { abi, bytecode } = contractOf(name);
    const data = args.length > 0 ? AbiConstructor.encode(abi, { bytecode, args }) : bytecode;
    await this.#send(OWNER, undefined, data);
    const receipt = (await this.mine()).at(-1);
    if (!receipt) throw new Error("nothing was deployed");
    return receipt.contractAddress.toLowerCase();
  }

  /** Puts a transaction into the next block. */
  async send(
    from: string,
    to: string,
    name: ContractName,
    functionName: string,
    args: readonly unknown[],
    value = 0n,
  ): Promise<void> {
    const { abi } = contractOf(name);
    // The gas limits of all transactions must fit into their block.
    const gas = name === "token" || functionName.startsWith("swap") ? SMALL_GAS : GAS;
    await this.#send(from, to, AbiFunction.encodeData(abi, functionName, args), gas, value);
  }

  /** Puts a transaction into the next block in which a batch contract makes these calls. */
  run(from: string, batch: string, calls: readonly Call[]): Promise<void> {
    return this.send(from, ...batchOf(batch, calls));
  }

  /** Copies a contract's code, but not its storage, to another address. */
  async copy(from: string, to: string): Promise<void> {
    await this.ask("anvil_setCode", [to, await this.ask("eth_getCode", [from, "latest"])]);
  }

  /** Sets an account's balance of a token. */
  async endow(token: string, account: string, units: bigint): Promise<void> {
    // The slot of `balanceOf`, a mapping at slot 3.
    const slot = keccak256(`0x${account.slice(2).padStart(64, "0")}${"3".padStart(64, "0")}`);
    await this.ask("anvil_setStorageAt", [token, slot, `0x${units.toString(16).padStart(64, "0")}`]);
  }

  /** Mines a block of what was sent, and advances time. Throws if a transaction failed. */
  async mine(seconds = 1): Promise<readonly Receipt[]> {
    await this.ask("evm_mine", [{ timestamp: this.nextAt }]);
    this.nextAt += seconds;
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length === 0) return [];
    const receipts = await this.ask<Receipt[]>("eth_getBlockReceipts", ["latest"]);
    if (receipts.length !== pending.length)
      throw new Error(`${receipts.length} of ${pending.length} transactions were mined`);
    const failed = receipts.filter(({ status }) => status !== "0x1");
    if (failed.length > 0)
      throw new Error(`${failed.length} transactions failed, the first ${failed[0]?.transactionHash}`);
    return receipts;
  }

  /** Returns a contract's response to a call from `from`. */
  async read(
    to: string,
    name: ContractName,
    functionName: string,
    args: readonly unknown[] = [],
    from = OWNER,
  ): Promise<string> {
    const { abi } = contractOf(name);
    const data = AbiFunction.encodeData(abi, functionName, args);
    return this.ask<string>("eth_call", [{ from, to, data }, "latest"]);
  }

  async #send(
    from: string,
    to: string | undefined,
    data: Hex.Hex,
    gas = DEPLOY_GAS,
    value = 0n,
  ): Promise<void> {
    const target = to === undefined ? {} : { to };
    const transaction = { from, ...target, data, gas, gasPrice: "0x0", value: `0x${value.toString(16)}` };
    this.#pending.push(await this.ask<string>("eth_sendTransaction", [transaction]));
  }
}

/** Returns one call of a batch contract that makes these calls, for use in another batch. */
export function batchOf(batch: string, calls: readonly Call[]): Call {
  const data = calls.map(([, name, functionName, args]) =>
    AbiFunction.encodeData(contractOf(name).abi, functionName, args),
  );
  return [batch, "batch", "run", [calls.map(([to]) => to), data]];
}

/** Returns the address in a word of a contract's response. */
export function addressIn(word: string): string {
  return `0x${word.slice(-40)}`;
}
