import type { Random } from "./random.ts";

/* Invented words. None is meant to resemble anything that exists. */
const FIRST_WORDS = (
  "Amber Bramble Cinder Dapple Ember Fennel Gossamer Hollow Inkwell Juniper Kettle Lantern Marrow Nettle Osprey Pebble Quill Russet " +
  "Saffron Thistle Umber Velvet Willow Yonder Zephyr Badger Cobble Drizzle Fiddle Gobble Huckle Jumble Lollop Muddle Noodle Paddle " +
  "Rumple Snuffle Tumble Waffle Wobble Bumble Crinkle Doodle Flapper Grumble Hopple Mizzle Pickle Riddle"
).split(" ");
const SECOND_WORDS = (
  "barrow beck bottom bridge brook burrow croft dale drift fen field fold ford garth gate glen grove hatch heath hollow hurst knoll " +
  "leap march mere moor nook orchard patch pike pond reach ridge rill shaw stead stile thorn vale wick wold"
).split(" ");
const ENDINGS: readonly (readonly [string, number])[] = [
  ["", 5],
  [" Coin", 2],
  [" Token", 2],
  [" Protocol", 1],
  [" Swap", 1],
  [" Hound", 1],
  [" Frog", 1],
  [" Finance", 1],
];

export interface Naming {
  readonly name: string;
  readonly symbol: string;
}

/** Invents a name and a symbol made from its letters. Both may repeat, as on chains. */
export function inventName(random: Random): Naming {
  const first = random.pick(FIRST_WORDS);
  const second = random.pick(SECOND_WORDS);
  const symbol = first.slice(0, 2 + random.below(2)) + second.slice(0, 2 + random.below(2));
  return { name: first + second + random.weighted(ENDINGS), symbol: symbol.toUpperCase() };
}

/** Invents names with distinct symbols, as an exchange requires. */
export function inventUniqueNames(count: number, random: Random): readonly Naming[] {
  const bySymbol = new Map<string, Naming>();
  while (bySymbol.size < count) {
    const naming = inventName(random);
    const symbol = bySymbol.has(naming.symbol) ? `${naming.symbol}${bySymbol.size}` : naming.symbol;
    bySymbol.set(symbol, { ...naming, symbol });
  }
  return [...bySymbol.values()];
}
