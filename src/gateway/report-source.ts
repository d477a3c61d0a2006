import type { Logger } from "pino";
import type { Clock } from "../lib/time/clock.ts";
import type { SnapshotSource } from "../source/index.ts";
import type { OpenSource } from "./open/open-source.ts";

/** How long a started source may have no data before the log warns. */
const FIRST_DATA_MS = 30_000;

/** Events that a healthy market has too: tiny trades, and those outside a token's known pools. */
const EXPECTED_REJECTIONS: ReadonlySet<string> = new Set(["dust", "unknown-pool"]);

/** Returns unexpected unusable market events by reason; `undefined` if there are none. */
function rejections({ rejected }: OpenSource): Readonly<Record<string, number>> | undefined {
  const unusable = Object.entries(rejected?.() ?? {}).filter(
    ([reason, count]) => !EXPECTED_REJECTIONS.has(reason) && count > 0,
  );
  return unusable.length === 0 ? undefined : Object.fromEntries(unusable);
}

/** Logs the unexpected unusable market events, if any. */
export function logRejections(opened: OpenSource, logger: Logger): void {
  const rejected = rejections(opened);
  if (rejected) logger.info({ rejected }, "ignored unusable market events");
}

/** Logs the state of the source, at the start and on each change. */
export function logSource(opened: OpenSource, logger: Logger): void {
  const { info } = opened.source;
  const { state, reason, observed_at } = opened.source.freshness();
  const facts = { source: info.name, origin: info.origin, observed_at, rejected: rejections(opened) };
  if (state === "live") logger.info(facts, "source is live");
  else {
    const isHelpful = observed_at === null && info.origin === "live" && opened.services;
    const hint = isHelpful ? "; run flarewire doctor, which checks every service" : "";
    logger.warn({ ...facts, reason }, `source is ${state}${hint}`);
  }
}

/** Logs the state at the start. After a restart, a lack of data is a warning only if it lasts. */
export async function reportStart(
  source: Pick<SnapshotSource, "freshness">,
  report: () => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const hasNoData = () => {
    const { state, observed_at } = source.freshness();
    return state === "stale" && observed_at === null;
  };
  if (!hasNoData()) return report();
  await clock.sleep(FIRST_DATA_MS, signal).catch(() => {});
  if (!signal.aborted && hasNoData()) report();
}
