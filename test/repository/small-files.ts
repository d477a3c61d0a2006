/**
 * The files of `src` with fewer than 40 lines and a single importer that are not merged yet. Some
 * have a reason to stay: they are loaded later than their importer, or are free of the DOM, so that
 * tests without a browser can import them. Remove a line with its file, and add none.
 */
export const SMALL_FILES: readonly string[] = [
  "app/node-version.ts",
  "clients/dashboard/state/alerts/alert-texts.ts",
  "clients/dashboard/state/timeline/stored-since.ts",
  "clients/sdk/transport/sse-transport.ts",
  "clients/widget/flare-badge.ts",
  "engine/views/inspection.ts",
  "feeds/chain/block-pace.ts",
  "feeds/chain/pools/forms/positions/ticks.ts",
];
