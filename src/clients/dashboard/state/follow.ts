import { GROUPS, type GroupName, isAdditional } from "../../../base/model/groups.ts";
import { connect, type Stream, type View } from "../../sdk/index.ts";
import { eventToken } from "../text/event-token.ts";
import type { PageAlerts } from "./alerts/page-alerts.ts";
import { hasPro, MAX_NEWS, newsKey, RepeatFilter, withFirst, withLast } from "./feed/news.ts";
import type { FlareLists } from "./group/flare-lists.ts";
import { describeGap } from "./judge.ts";
import { measureAway, measurePace } from "./pace.ts";
import type { NamedEvent, Seen } from "./seen.ts";
import { type Access, fetchAccess } from "./visitor/access.ts";

const MAX_EVENTS = 200;
const TICK_MS = 1_000;

/** Maximum number of listed gaps, so that an unstable server cannot fill the page. */
const MAX_GAPS = 20;

export interface Following {
  readonly now: () => Seen;
  readonly stop: () => void;
}

/** Returns the channels of a group's stream. For `bsc`: all but the flares of other groups. */
function channelsOf(group: GroupName): readonly string[] {
  if (group !== "bsc") return [`flares.${group}.*`];
  return ["*", ...GROUPS.filter(isAdditional).flatMap((one) => [`charts.${one}`, `leaderboards.${one}`])];
}

/**
 * Follows a group's stream until stopped, and passes its flares to the alerts. Calls `onChange`
 * each second. While the page is visible, also calls it when the data or the alerts change, at most
 * once per frame: more renderings would make gliding lines jump.
 */
export function follow(
  url: URL,
  key: string | undefined,
  group: GroupName,
  alerts: PageAlerts,
  onChange: () => void,
): Following {
  const over = new AbortController();
  const platform = { document: attentiveDocument(alerts, over.signal) };
  const stream: Stream = connect(url, {
    channels: channelsOf(group),
    platform,
    ...(key === undefined ? {} : { key }),
  });
  let access: Access | null | undefined;
  let events: readonly NamedEvent[] = [];
  let news: readonly NamedEvent[] = [];
  let gaps: readonly string[] = [];
  let refused: Error | undefined;
  let last: { readonly view: View; readonly lists: FlareLists } | undefined;
  let count = 0;
  let changes = 0;
  const repeats = new RepeatFilter();
  const away = measureAway();
  // The market time when the browser lost its network. Chromium ends the connection only later.
  let offlineAt: string | null | undefined;
  const pace = measurePace();
  const changed = oncePerFrame(onChange, over.signal);
  // A hidden page has no frames, and paints nothing.
  const tick = setInterval(() => (document.hidden ? onChange() : changed()), TICK_MS);
  /** Returns the same object until the lists change; `undefined` before the first response. */
  const lists = () => {
    const { view } = stream;
    if (group === "bsc") return view;
    if (view && last?.view !== view)
      last = { view, lists: { ...view, flares: view[`flares.${group}`] ?? {} } };
    return last?.lists;
  };
  stream.on("event", (event) => {
    count += 1;
    const named = { event, token: eventToken(event, stream.view) };
    if (!repeats.isRepeat(event, hasPro(stream.view))) {
      changes += 1;
      events = withFirst(events, named, MAX_EVENTS);
    }
    if (newsKey(event) !== undefined) news = withFirst(news, named, MAX_NEWS);
    const now = lists();
    if (now) alerts.take(group, event, now);
    changed();
  });
  stream.on("reset", (reset) => {
    const isStart = reset.reason === "started";
    if (!isStart) gaps = withLast(gaps, describeGap(reset), MAX_GAPS);
    const now = lists();
    if (now) alerts.reset(group, now, isStart);
    changed();
  });
  const ask = async () => {
    const fetched = await fetchAccess(url, key, over.signal);
    access = fetched ?? access ?? null;
    changed();
  };
  stream.on("connection", ({ state }) => {
    // Another server may respond from now on, or the same one with other settings.
    if (away.note(state) && group === "bsc") void ask();
    if (state === "live") offlineAt = undefined;
    changed();
  });
  stream.on("error", (error) => {
    refused = error;
    changed();
  });
  const lose = () => {
    offlineAt = stream.freshness?.observedAt;
    changed();
  };
  addEventListener("offline", lose, { signal: over.signal });
  over.signal.addEventListener("abort", alerts.onChange(changed));
  return {
    now: () => ({
      isOffline: offlineAt != null && offlineAt === stream.freshness?.observedAt,
      view: stream.view,
      lists: refused ?? lists(),
      awayMs: away.nowMs(),
      access,
      connection: stream.connection,
      freshness: stream.freshness,
      pace: pace(stream.freshness?.observedAt, performance.now()),
      cursor: stream.cursor,
      events,
      changes,
      count,
      news,
      gaps,
      refused: refused?.message,
    }),
    stop: () => {
      clearInterval(tick);
      over.abort();
      stream.close();
    },
  };
}

/** Returns a document that is never hidden while alerts are set, so that the stream continues. */
function attentiveDocument(alerts: PageAlerts, signal: AbortSignal) {
  class Attentive extends EventTarget {
    get hidden(): boolean {
      return document.hidden && !alerts.isOn;
    }
  }
  const attentive = new Attentive();
  const look = () => attentive.dispatchEvent(new Event("visibilitychange"));
  document.addEventListener("visibilitychange", look, { signal });
  signal.addEventListener("abort", alerts.onChange(look));
  return attentive;
}

/**
 * Returns a function that calls `work` in the next frame, once for all calls before it. It does
 * nothing after the signal has aborted.
 */
function oncePerFrame(work: () => void, signal: AbortSignal): () => void {
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
