import type { MarketEvent } from "../../market/index.ts";
import type { Feed } from "../feed.ts";
import type { Recorder, RecordingError } from "./recorder.ts";

/**
 * The same feed, each of whose events is recorded before it is handed on: what the engine is given, in the same order, clocks included.
 * A recording that fails is told of once, to `onFailure`, and the feed goes on without it: who serves a market serves it on a full disk too.
 */
export function recordFeed(feed: Feed, recorder: Recorder, onFailure: (error: RecordingError) => void): Feed {
  const { name, origin, facts } = feed;
  return {
    ...{ name, origin, facts },
    events: (signal) => recorded(feed, recorder, onFailure, signal),
    trouble: () => feed.trouble?.(),
    ...(feed.parts ? { parts: feed.parts } : {}),
    ...(feed.services ? { services: feed.services } : {}),
  };
}

async function* recorded(
  feed: Feed,
  recorder: Recorder,
  onFailure: (error: RecordingError) => void,
  signal: AbortSignal,
): AsyncGenerator<MarketEvent> {
  let isTold = false;
  const look = () => {
    if (isTold || !recorder.failure) return;
    isTold = true;
    onFailure(recorder.failure);
  };
  try {
    for await (const event of feed.events(signal)) {
      const slow = recorder.write(event);
      if (slow) await slow;
      look();
      yield event;
    }
  } finally {
    await recorder.close();
    look();
  }
}
