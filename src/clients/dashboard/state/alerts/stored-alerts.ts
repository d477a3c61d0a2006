import { onStoredElsewhere } from "../visitor/on-stored-elsewhere.ts";
import { WATCHED_KEY } from "../visitor/watched.ts";
import { type AlertEntry, type AlertSettings, MAX_ENTRIES, NO_ALERTS } from "./alert-settings.ts";

const STORAGE_KEY = "flarewire-alerts";
const MAX_QUERY = 4_096;

export function readAlerts(): AlertSettings {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
    if (typeof stored !== "object" || stored === null) return NO_ALERTS;
    const { entries, hasWatchList, isNotified, hasSound, isPushed } = { ...NO_ALERTS, ...stored };
    return {
      entries: Array.isArray(entries) ? entries.flatMap(readEntry).slice(0, MAX_ENTRIES) : [],
      hasWatchList: hasWatchList === true,
      isNotified: isNotified === true,
      hasSound: hasSound === true,
      isPushed: isPushed === true,
    };
  } catch {
    return NO_ALERTS;
  }
}

export function writeAlerts(settings: AlertSettings): void {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(settings));
  } catch {
    // Without storage the alerts last until the page is reloaded.
  }
}

/** Calls `onChange` when another tab changes the alerts or the watch list. */
export function onAlertsElsewhere(onChange: () => void): void {
  onStoredElsewhere([STORAGE_KEY, WATCHED_KEY], onChange);
}

function readEntry(given: unknown): readonly AlertEntry[] {
  if (typeof given !== "object" || given === null || !("query" in given)) return [];
  const query = String(given.query);
  if (query.length > MAX_QUERY) return [];
  return [{ query, ...("symbol" in given ? { symbol: String(given.symbol).slice(0, 200) } : {}) }];
}
