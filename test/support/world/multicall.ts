import * as AbiFunction from "ox/AbiFunction";
import type { Hex } from "ox/Hex";

/** The same address on all three chains: https://github.com/mds1/multicall3 */
export const MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11";

const AGGREGATE = AbiFunction.from([
  "struct Call { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call[] calls) payable returns (Result[] results)",
]);

interface InnerCall {
  readonly target: string;
  readonly callData: Hex;
}

interface InnerResult {
  readonly success: boolean;
  readonly returnData: Hex;
}

/** Returns the calls in a call of Multicall3. Throws if it calls another function. */
export function decodeCalls(data: Hex): readonly InnerCall[] {
  const [calls = []] = AbiFunction.decodeData(AGGREGATE, data);
  return calls;
}

/** Returns the results in a response of Multicall3. */
export function decodeResults(data: Hex): readonly InnerResult[] {
  return AbiFunction.decodeResult(AGGREGATE, data);
}

/** Encodes a response of Multicall3. */
export function encodeResults(results: readonly InnerResult[]): Hex {
  return AbiFunction.encodeResult(AGGREGATE, results);
}
