import { fetchedPackage } from "../../../support/setup/fetched-package.ts";

const FIRST = "@uniswap/v2-core";
const OTHERS = [
  "@uniswap/v2-periphery@1.1.0-beta.0",
  "@uniswap/v3-core@1.0.1",
  "@pancakeswap/v3-core@1.0.2",
  "@cryptoalgebra/v1-core@1.0.0",
];

/**
 * Returns the folder with the packages of the exchanges' contracts, `undefined` if npm cannot fetch
 * them. They are not dependencies, because only the tests on a real EVM use them, and their
 * licenses allow no copies here.
 */
export function contractPackages(): string | undefined {
  return fetchedPackage(FIRST, "1.0.1", OTHERS)?.slice(0, -FIRST.length);
}
