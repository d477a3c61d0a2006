/** Where a visitor was on a page: at a row of a list, or at a height. */
export interface ScrollPosition {
  readonly top: number;
  /** The first visible row, and its distance from the top of the screen. */
  readonly row?: { readonly index: number; readonly offset: number };
}

const ROWS = ".rows tbody > tr, .ranks > li, .events > li";
/** Frames for which a row is held in place while the page around it loads: about two seconds. */
const HELD_FRAMES = 120;
/** Events with which visitors take over the scroll position. */
const TAKES_OVER = ["wheel", "touchmove", "pointerdown", "keydown"];

export function scrollPosition(): ScrollPosition {
  const rows = [...document.querySelectorAll(ROWS)];
  const tops = rows.map((row) => row.getBoundingClientRect());
  const index = tops.findIndex(({ bottom }) => bottom > 0);
  const first = tops[index];
  // With the list's start in view, the height is enough.
  if (!first || index === 0) return { top: scrollY };
  return { top: scrollY, row: { index, offset: first.top } };
}

/**
 * Scrolls back, and holds the row in place for a while. Returns a function that stops this. A
 * height alone would miss the row, because the heights of rows out of view are estimates and a
 * timeline or plot above may still load.
 */
export function returnTo({ top, row }: ScrollPosition): () => void {
  scrollTo(0, top);
  if (!row) return () => {};
  let frame = 0;
  let left = HELD_FRAMES;
  const ended = new AbortController();
  const end = () => {
    cancelAnimationFrame(frame);
    ended.abort();
  };
  const hold = () => {
    const element = document.querySelectorAll(ROWS)[row.index];
    if (element) scrollBy(0, element.getBoundingClientRect().top - row.offset);
    left -= 1;
    if (left > 0) frame = requestAnimationFrame(hold);
    else end();
  };
  for (const type of TAKES_OVER) addEventListener(type, end, { signal: ended.signal, passive: true });
  hold();
  return end;
}
