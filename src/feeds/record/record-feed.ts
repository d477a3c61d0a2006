import type { MarketEvent } from "../../base/market/index.ts";
import type { Feed } from "../../gateway/source/index.ts";
import type { Recorder, RecordingError } from "./recorder.ts";

/**
 * Returns a feed that hands each event to the recorder before it yields it, and closes the recorder
 * at the end. If recording fails, calls `onFailure` once and continues without it.
 */
export function recordFeed(feed: Feed, recorder: Recorder, onFailure: (error: RecordingError) => void): Feed {
  return { ...feed, events: (signal) => recorded(feed, recorder, onFailure, signal) };
}

async function* recorded(
  feed: Feed,
  recorder: Recorder,
  onFailure: (error: RecordingError) => void,
  signal: AbortSignal,
): AsyncGenerator<MarketEvent> {
  let isReported = false;
  const report = () => {
    if (isReported || !recorder.failure) return;
    isReported = true;
    onFailure(recorder.failure);
  };
  try {
    for await (const event of feed.events(signal)) {
      const slow = recorder.write(event);
      if (slow) await slow;
      report();
      yield event;
    }
  } finally {
    await recorder.close();
    report();
  }
}
