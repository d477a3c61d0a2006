/** Spans of event time in milliseconds. */
export const SECOND_MS = 1_000;
/** 60 seconds. */
export const MINUTE_MS = 60_000;
/** 60 minutes. */
export const HOUR_MS = 3_600_000;
/** 24 hours. */
export const DAY_MS = 86_400_000;
