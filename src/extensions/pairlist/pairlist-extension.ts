import { PRODUCER_PATH } from "../../gateway/http/endpoints.ts";
import { extension } from "../../gateway/start/extension.ts";
import { Consumers } from "./consumers.ts";
import { addPairlistRoute } from "./pairlist-route.ts";
import { addProducerRoute } from "./producer-route.ts";

/** Serves pairs to freqtrade, on request and over a WebSocket. */
export const pairlist = extension({
  name: "pairlist",
  settings: {},
  open: ({ hub, clock, head, freshness }) => {
    const consumers = new Consumers({ hub, clock });
    return {
      routes: ({ add, hasPast }) => addPairlistRoute(add, { head, freshness, hasPast }),
      sockets: [
        {
          path: PRODUCER_PATH,
          add: (scope, parts) => addProducerRoute(scope, consumers, parts),
          stop: () => consumers.stop(),
        },
      ],
    };
  },
});
