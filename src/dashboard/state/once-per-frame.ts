/** Returns a function that calls `work` in the next frame, once, until the signal aborts. */
export function oncePerFrame(work: () => void, signal: AbortSignal): () => void {
  let frame = 0;
  signal.addEventListener("abort", () => cancelAnimationFrame(frame));
  return () => {
    if (signal.aborted) return;
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      work();
    });
  };
}
