import { HOUR_MS, MINUTE_MS } from "../../base/lib/time/time.ts";
import { OUTCOME_MINUTES, type OutcomeControl } from "../../base/model/index.ts";
import type { Detector } from "../detect/detector.ts";
import { changeFrom, dueMinutes, dueMs } from "../state/followed-flare.ts";
import type { TokenState } from "../state/token-state.ts";

/**
 * Each token has one control moment in every two hours of the clock. For comparison, price changes
 * after it are measured like those after a flare's start.
 */
const SLOT_MS = 2 * HOUR_MS;
/** Maximum age of a control moment at the start of the flare that it is compared with. */
const MAX_AGE_MS = 24 * HOUR_MS;
/** Minimum age: the measured hour ends at least half an hour before the flare, before its rise. */
const MIN_AGE_MS = 90 * MINUTE_MS;

/**
 * Measures the price changes that are due after the token's control moments, and starts a new
 * moment if it is due. `atMs` is a whole minute. The moments' times depend only on the token and
 * the clock, never on a flare.
 */
export function stepControl(token: TokenState, detector: Detector, atMs: number): void {
  const { control } = token;
  if (atMs < control.dueMs) return;
  const price = detector.knownPrice(token, atMs);
  for (const moment of control.moments) {
    if (dueMinutes(moment, atMs) !== undefined) moment.changes.push(changeFrom(moment.start, price));
  }
  if (atMs >= control.nextMs) {
    control.moments = control.moments.filter(({ startedMs }) => atMs - startedMs <= MAX_AGE_MS);
    const isFirstLook = control.nextMs < 0;
    if (price > 0 && !isFirstLook) control.moments.push({ startedMs: atMs, start: { price }, changes: [] });
    control.nextMs = nextMoment(token.key, atMs);
  }
  control.dueMs = Math.min(control.nextMs, ...control.moments.map(dueMs));
}

/** Returns the known changes after the control moments of a flare that starts at `atMs`. */
export function controlOf({ control }: TokenState, atMs: number): OutcomeControl {
  const moments = control.moments.filter(({ startedMs }) => {
    const ageMs = atMs - startedMs;
    return ageMs >= MIN_AGE_MS && ageMs <= MAX_AGE_MS;
  });
  const [change_5m = [], change_15m = [], change_60m = []] = OUTCOME_MINUTES.map((_, index) =>
    moments.flatMap(({ changes }) => changes[index] ?? []),
  );
  return { change_5m, change_15m, change_60m };
}

/** Returns the first control moment of the token after `atMs`, a whole minute. */
function nextMoment(key: string, atMs: number): number {
  const slot = Math.floor(atMs / SLOT_MS);
  const own = momentOf(key, slot);
  return own > atMs ? own : momentOf(key, slot + 1);
}

/**
 * Returns the slot's control moment. Its minute is the FNV-1a hash of slot and key, modulo the
 * slot's number of minutes.
 */
function momentOf(key: string, slot: number): number {
  let hash = 0x811c9dc5;
  for (const char of `${slot} ${key}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return slot * SLOT_MS + ((hash >>> 0) % (SLOT_MS / MINUTE_MS)) * MINUTE_MS;
}
