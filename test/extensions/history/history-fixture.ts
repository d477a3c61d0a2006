import {
  createHistoryReader,
  type HistoryStore,
  openSqliteHistoryStore,
} from "../../../src/extensions/history/index.ts";
import { type Rest, test as restTest } from "../../gateway/http/rest/rest-fixture.ts";

/** {@link restTest} with an empty history in memory, and a server with it. */
export const test = restTest.extend<{ store: HistoryStore; served: Rest }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  store: async ({}, use) => {
    const store = openSqliteHistoryStore({ maxAgeMs: 30 * 86_400_000, maxBytes: 2 ** 30 });
    await use(store);
    store.close();
  },
  served: async ({ makeRest, store }, use) => use(await makeRest({ history: createHistoryReader(store) })),
});
