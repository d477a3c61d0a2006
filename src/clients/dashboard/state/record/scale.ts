import type { TrackRecord } from "../../../../base/model/index.ts";

/** One horizontal scale in percent, for all spreads of a record. */
export interface Scale {
  /** Labeled values, from the left end to the right end. */
  readonly ticks: readonly number[];
  /** Returns a value's position, from 0 at the left end to 100 at the right end. */
  readonly positionOf: (percent: number) => number;
}

/** About this many steps fit on a phone. */
const STEPS = 5;
const NICE = [1, 2, 5, 10];

/** Returns the scale that includes 0 and every quartile; `undefined` if no quartile is known. */
export function scaleOf({ after }: TrackRecord["all"]): Scale | undefined {
  const spreads = after.flatMap((one) => [one, one.control]);
  const values = spreads.flatMap(({ q1, q3 }) => [q1 ?? [], q3 ?? []].flat());
  if (values.length === 0) return undefined;
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const step = niceStep((high - low) / STEPS);
  const [from, to] = [Math.floor(low / step), Math.max(Math.ceil(high / step), Math.floor(low / step) + 1)];
  return {
    ticks: Array.from({ length: to - from + 1 }, (_, at) => (from + at) * step || 0),
    positionOf: (percent) => (100 * (percent / step - from)) / (to - from),
  };
}

/** Returns the least of 1, 2 and 5 times a power of ten that is not below `size`; 1 for 0. */
function niceStep(size: number): number {
  if (!(size > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(size));
  return (NICE.find((factor) => factor * power >= size) ?? 10) * power;
}
