import { createHistoryReader, openSqliteHistoryStore } from "../../../../src/extensions/history/index.ts";
import { CONTRACTS } from "../../../support/expect/contracts.ts";
import type { ServerOptions } from "../../../support/servers/with-extensions.ts";

/** Options of a server that has every route of the API, though those of the hub do nothing. */
export const WITH_ALL_ROUTES: Partial<ServerOptions> = {
  history: createHistoryReader(openSqliteHistoryStore({ maxAgeMs: 1, maxBytes: 2 ** 20 })),
  register: ({ app }) => {
    for (const contract of CONTRACTS) {
      const { path, method, tag, name } = contract;
      if (tag !== "events" && name !== "metrics" && name !== "me") continue;
      app.route({ method, url: path, config: { contract }, handler: async () => "" });
    }
  },
};
