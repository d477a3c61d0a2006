import { squareRoot } from "../../exact-decimal.ts";

/*
 * Prices at ticks, as Uniswap's contracts compute them (TickMath): √(1.0001^tick) as a product of
 * powers, each rounded to 128 bits.
 */

/** No tick is above this, or below its negative. */
export const MAX_TICK = 887_272;
const Q32 = 1n << 32n;
const MAX_UINT256 = (1n << 256n) - 1n;

/** 1.0001^(−2^index / 2) in 128 bits, rounded to nearest. */
const POWERS: readonly bigint[] = powers();

function powers(): bigint[] {
  const precision = 512n;
  let power = squareRoot((10_000n << (2n * precision)) / 10_001n);
  return Array.from({ length: 20 }, () => {
    const rounded = (power + (1n << (precision - 129n))) >> (precision - 128n);
    power = (power * power) >> precision;
    return rounded;
  });
}

/** Returns √(1.0001^tick) × 2⁹⁶, rounded up; `tick` is at most {@link MAX_TICK} from 0. */
export function sqrtPriceAt(tick: number): bigint {
  let price = 1n << 128n;
  for (const [index, power] of POWERS.entries())
    if ((Math.abs(tick) >> index) & 1) price = (price * power) >> 128n;
  if (tick > 0) price = MAX_UINT256 / price;
  return (price + Q32 - 1n) / Q32;
}
