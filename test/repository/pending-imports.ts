/** Imports against the rules that are still to turn round: the file, and what it imports. */
export const PENDING: readonly string[] = [
  "gateway/http/parameters.ts -> extensions/docs/contracts/headers.ts",
  "gateway/http/parameters.ts -> extensions/docs/contracts/schemas.ts",
  "gateway/http/parameters.ts -> extensions/history/http/history-query.ts",
  "gateway/http/parameters.ts -> extensions/pairlist/pair-query.ts",
  "gateway/http/rest/resource-routes.ts -> extensions/history/http/history-query.ts",
];
