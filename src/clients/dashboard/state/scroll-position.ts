/** How far a visitor had scrolled on a page, in pixels, and which row of a list came first. */
export interface ScrollPosition {
  readonly top: number;
  /**
   * The first visible row, and its distance from the top of the screen. Absent if it is the list's
   * first, or if no row is visible.
   */
  readonly row?: { readonly index: number; readonly offset: number };
}

const ROWS = ".tokens tbody > tr";
/** Frames for which the position is held once it is reached: two seconds at 60 Hz. */
const HELD_FRAMES = 120;
/** Frames to wait for a list that loads: ten seconds. */
const AWAITED_FRAMES = 600;
/** Events by which visitors take over the scroll position. */
const TAKES_OVER = ["wheel", "touchmove", "pointerdown", "keydown"];

export function scrollPosition(): ScrollPosition {
  const rows = [...document.querySelectorAll(ROWS)];
  const tops = rows.map((row) => row.getBoundingClientRect());
  const index = tops.findIndex(({ bottom }) => bottom > 0);
  const first = tops[index];
  // With the list's start in view, `top` is enough.
  if (!first || index === 0) return { top: scrollY };
  return { top: scrollY, row: { index, offset: first.top } };
}

/**
 * Scrolls back, and holds the position for about two seconds, or until the visitor takes over. The
 * list may load only now, and `top` alone would miss its row, because the heights of rows out of
 * view are estimates and a strip or plot above may still load. Returns a function that stops this.
 */
export function returnTo({ top, row }: ScrollPosition): () => void {
  let frame = 0;
  let held = 0;
  let waited = 0;
  const ended = new AbortController();
  const end = () => {
    cancelAnimationFrame(frame);
    ended.abort();
  };
  const hold = () => {
    const element = row && document.querySelectorAll(ROWS)[row.index];
    if (element) scrollBy(0, element.getBoundingClientRect().top - row.offset);
    else scrollTo(0, top);
    if (row ? element : Math.abs(scrollY - top) < 1) held += 1;
    waited += 1;
    if (held < HELD_FRAMES && waited < AWAITED_FRAMES) frame = requestAnimationFrame(hold);
    else end();
  };
  for (const type of TAKES_OVER) addEventListener(type, end, { signal: ended.signal, passive: true });
  hold();
  return end;
}
