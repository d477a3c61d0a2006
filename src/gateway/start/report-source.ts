import type { Logger } from "pino";
import { ownCommand } from "../../base/lib/own-command.ts";
import type { Clock } from "../../base/lib/time/clock.ts";

import type { OpenSource } from "../source/index.ts";

/** How long a started source may have no data or catch up before a warning is logged. */
const FIRST_DATA_MS = 30_000;
/** The same if its services have only failed. */
const FIRST_RESPONSE_MS = 5_000;

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

/**
 * Names a service of a live market that failed; `undefined` if none has failed, if any service has
 * returned data since the start, or if the market has ended.
 */
function failedService({ source, services }: OpenSource): string | undefined {
  const all = services?.() ?? [];
  const { state, observed_at } = source.freshness();
  const hasData = observed_at !== null || all.some(({ ageMs }) => ageMs !== undefined);
  if (hasData || state === "down" || source.info.origin !== "live") return undefined;
  return all.find(({ errors }) => errors > 0)?.service;
}

/** Logs the state of the source, at the start and on each change. */
export function logSource(opened: OpenSource, logger: Logger): void {
  const { info } = opened.source;
  const { state, reason, observed_at } = opened.source.freshness();
  const facts = { source: info.name, origin: info.origin, observed_at, rejected: rejections(opened) };
  if (state === "live") logger.info(facts, "source is live");
  else {
    const isHelpful = observed_at === null && info.origin === "live" && opened.services;
    const hint = isHelpful ? `; try ${ownCommand("doctor")}, which checks every service` : "";
    const service = failedService(opened);
    const what = service ? "no service has returned data yet, retrying" : `source is ${state}`;
    logger.warn({ ...facts, service, reason }, `${what}${hint}`);
  }
}

/**
 * Logs the source's state at the start. While there are no data, a market warms up, or a resumed
 * one is catching up, warns only after 30 s; sooner if the market's services have only failed.
 */
export async function reportStart(
  opened: OpenSource,
  report: () => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const isStarting = () => {
    const { state, observed_at } = opened.source.freshness();
    const market = opened.kind === "snapshots" ? opened : undefined;
    const hasNoData = observed_at === null || market?.warmedUp?.() !== undefined;
    return state === "stale" && (hasNoData || market?.isCatchingUp?.() === true);
  };
  if (!isStarting() || failedService(opened)) return report();
  await clock.sleep(FIRST_RESPONSE_MS, signal).catch(() => {});
  if (!failedService(opened)) await clock.sleep(FIRST_DATA_MS - FIRST_RESPONSE_MS, signal).catch(() => {});
  if (!signal.aborted && isStarting()) report();
}
