import type { MarketEvent } from "../base/market/index.ts";
import type { Feed } from "../gateway/source/index.ts";

/**
 * Returns the `events` of a feed that can be iterated once. The signal that `open` receives also
 * aborts when the consumer leaves. After the consumer's signal has aborted, an error counts as the
 * end.
 */
export function eventsOnce(
  what: string,
  open: (signal: AbortSignal) => AsyncIterable<MarketEvent>,
): Feed["events"] {
  let isTaken = false;
  return async function* (signal) {
    if (isTaken) throw new Error(`${what} can be iterated only once`);
    isTaken = true;
    const ending = new AbortController();
    try {
      yield* open(AbortSignal.any([signal, ending.signal]));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      ending.abort(new DOMException("the feed was closed", "AbortError"));
    }
  };
}
