/** Rows of a list that are in sight: from `first` on (from 0) as many as `count`. */
export interface RowWindow {
  readonly first: number;
  readonly count: number;
}

/** What is in sight of `rows` rows where there is room for so many lines, `first` being wished for: all, or, with a line kept for saying what is not, as many as fit; never beyond the last row. */
export function rowWindow(rows: number, lines: number, first: number): RowWindow {
  if (rows <= lines) return { first: 0, count: rows };
  const count = Math.max(0, lines - 1);
  return { first: Math.max(0, Math.min(first, rows - count)), count };
}

/** By how many rows a key moves, of which `page` are in sight; Infinity: as far as there are. */
const MOVES: Readonly<Record<string, (page: number) => number>> = {
  ...keys(["\u001B[A", "\u001BOA", "k"], () => -1),
  ...keys(["\u001B[B", "\u001BOB", "j"], () => 1),
  ...keys(["\u001B[5~"], (page) => -page),
  ...keys(["\u001B[6~", " "], (page) => page),
  ...keys(["\u001B[H", "\u001BOH", "\u001B[1~", "\u001B[7~"], () => -Infinity),
  ...keys(["\u001B[F", "\u001BOF", "\u001B[4~", "\u001B[8~"], () => Infinity),
};

/** The first row after a key; of a key that moves nothing the same. What is beyond the rows {@link rowWindow} brings back. */
export function firstAfter(key: string, { first, count }: RowWindow): number {
  const move = Object.hasOwn(MOVES, key) ? MOVES[key] : undefined;
  return move === undefined ? first : Math.max(0, first + move(Math.max(1, count)));
}

function keys(sequences: readonly string[], move: (page: number) => number) {
  return Object.fromEntries(sequences.map((sequence) => [sequence, move]));
}
