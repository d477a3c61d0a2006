/** Imports against the rules that are still to turn round: the file, and what it imports. */
export const PENDING: readonly string[] = [
  "feeds/open/open-feed.ts -> app/config/config.ts",
  "feeds/upstream/upstream-view.ts -> engine/index.ts",
  "gateway/http/parameters.ts -> extensions/docs/contracts/headers.ts",
  "gateway/http/parameters.ts -> extensions/docs/contracts/schemas.ts",
  "gateway/http/parameters.ts -> extensions/history/http/history-query.ts",
  "gateway/http/parameters.ts -> extensions/pairlist/pair-query.ts",
  "gateway/http/rest/resource-routes.ts -> extensions/history/http/history-query.ts",
  "gateway/persistence/persistence.ts -> app/config/config.ts",
  "gateway/persistence/persistence.ts -> feeds/index.ts",
  "gateway/persistence/persistence.ts -> feeds/open/open-feed.ts",
  "scale/follow/leader-message.ts -> feeds/upstream/upstream-json.ts",
];
