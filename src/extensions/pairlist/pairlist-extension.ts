import { extension } from "../../gateway/start/index.ts";
import { Consumers } from "./consumers.ts";
import { addPairlistRoute } from "./pairlist-route.ts";
import { addProducerRoute, PRODUCER_ROUTE } from "./producer-route.ts";

/** Serves pairs to freqtrade, on request and over a WebSocket. */
export const pairlist = extension({
  name: "pairlist",
  settings: {},
  open: ({ hub, clock, head, freshness }) => {
    const consumers = new Consumers({ hub, clock });
    return {
      routes: ({ add }) => addPairlistRoute(add, { head, freshness }),
      sockets: [
        {
          path: PRODUCER_ROUTE.path,
          add: (scope, dependencies) => addProducerRoute(scope, consumers, dependencies),
          stop: () => consumers.stop(),
        },
      ],
    };
  },
});
