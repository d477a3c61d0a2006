import { GUIDES, operationsIn, TUTORIALS } from "../../src/extensions/docs/index.ts";
import { createHistoryReader, openSqliteHistoryStore } from "../../src/extensions/history/index.ts";
import { test as base } from "../gateway/http/access/keyed-fixture.ts";
import type { WireFactory } from "../gateway/http/stream/websocket-fixture.ts";
import { CONTRACTS } from "../support/expect/contracts.ts";

/** The documents' pages of the servers of {@link test}. */
export const PAGES: readonly string[] = [
  "/docs",
  "/docs/events",
  "/docs/protocol",
  "/docs/guides",
  ...[...TUTORIALS, ...GUIDES].map(({ path }) => path),
  ...operationsIn(CONTRACTS.filter(({ name }) => name !== "metrics")).map(({ page }) => page),
];

/** {@link base} with servers that have an empty history, and its pages. */
export const test = base.extend<{ makeWire: WireFactory }>({
  makeWire: async ({ makeWire }, use) => {
    const store = openSqliteHistoryStore({ maxAgeMs: 1, maxBytes: 2 ** 20 });
    await use((options) => makeWire({ ...options, history: createHistoryReader(store) }));
    store.close();
  },
});
