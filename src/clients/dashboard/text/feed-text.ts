/** What the feed shows. */
export interface FeedContents {
  /** Whether it has every event, instead of starts, ends and listings. */
  readonly hasUpdates: boolean;
  /** Number of events, including those that `lines` lacks. */
  readonly count: number;
  /** Lines with an `event` show it as JSON. Lines from the history have none. */
  readonly lines: readonly object[];
}

/** Returns the introduction of the feed. It explains underlined times if a line has one. */
export function feedText({ hasUpdates, count, lines }: FeedContents): string {
  if (hasUpdates) {
    if (count === 0) return "None since this page was opened. The next one appears here.";
    const older = count > lines.length ? `; the newest ${lines.length} are below` : "";
    return `${count} since this page was opened${older}. Flares and listings are those of BSC.`;
  }
  if (count === 0)
    return "No start, end or listing on BSC is known from the last 24 hours. The next event appears here.";
  const scope =
    "Starts and ends of flares on BSC in the last 24 hours, and listings since the server's log began.";
  const hasJson = lines.some((line) => "event" in line);
  return hasJson ? `${scope} Click an underlined time for the event as JSON.` : scope;
}
