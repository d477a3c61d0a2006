interface RowWindow {
  readonly first: number;
  readonly count: number;
}

/** Returns the visible rows. Reserves one line for the count of hidden rows, if any. */
export function rowWindow(rows: number, lines: number, first: number): RowWindow {
  if (rows <= lines) return { first: 0, count: rows };
  const count = Math.max(0, lines - 1);
  return { first: Math.max(0, Math.min(first, rows - count)), count };
}

/** How far each key moves, with `page` visible rows. Infinity: to the end. */
const MOVES: Readonly<Record<string, (page: number) => number>> = {
  ...keys(["\u001B[A", "\u001BOA", "k"], () => -1),
  ...keys(["\u001B[B", "\u001BOB", "j"], () => 1),
  ...keys(["\u001B[5~"], (page) => -page),
  ...keys(["\u001B[6~", " "], (page) => page),
  ...keys(["\u001B[H", "\u001BOH", "\u001B[1~", "\u001B[7~"], () => -Infinity),
  ...keys(["\u001B[F", "\u001BOF", "\u001B[4~", "\u001B[8~"], () => Infinity),
};

/** Returns the first row after a key press. {@link rowWindow} limits it to existing rows. */
export function firstAfter(key: string, { first, count }: RowWindow): number {
  const move = Object.hasOwn(MOVES, key) ? MOVES[key] : undefined;
  return move === undefined ? first : Math.max(0, first + move(Math.max(1, count)));
}

function keys(sequences: readonly string[], move: (page: number) => number) {
  return Object.fromEntries(sequences.map((sequence) => [sequence, move]));
}
