/** Where a visitor was on a page: at a row of a list, or at a height. */
export interface Place {
  readonly top: number;
  /** The first visible row, and its distance from the top of the screen. */
  readonly row?: { readonly index: number; readonly offset: number };
}

const ROWS = ".rows tbody > tr, .ranks > li, .events > li";
/** Rows that come into view get their real heights, which takes a frame each time. */
const SETTLING_FRAMES = 4;

export function placeOf(): Place {
  const rows = [...document.querySelectorAll(ROWS)];
  const tops = rows.map((row) => row.getBoundingClientRect());
  const index = tops.findIndex(({ bottom }) => bottom > 0);
  const first = tops[index];
  // With the list's start in view, the height says it all.
  if (!first || index === 0) return { top: scrollY };
  return { top: scrollY, row: { index, offset: first.top } };
}

/** Scrolls back. Heights alone would miss: rows out of view have estimated ones. */
export function returnTo({ top, row }: Place): () => void {
  scrollTo(0, top);
  if (!row) return () => {};
  let frame = 0;
  let left = SETTLING_FRAMES;
  const settle = () => {
    const element = document.querySelectorAll(ROWS)[row.index];
    if (element) scrollBy(0, element.getBoundingClientRect().top - row.offset);
    left -= 1;
    if (left > 0) frame = requestAnimationFrame(settle);
  };
  settle();
  return () => cancelAnimationFrame(frame);
}
