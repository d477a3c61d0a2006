import type { Listeners } from "../listeners.ts";
import type { StreamPlan } from "../options.ts";

/** Reports requests, messages and changes of the connection, one line for each. */
export function trace(plan: StreamPlan, debug: (line: string) => void, { add }: Listeners): void {
  const { apply, platform } = plan;
  const { fetch } = platform;
  plan.platform = {
    ...platform,
    fetch: (url, init) => {
      debug(`${init?.method} ${url}`);
      return fetch(url, init);
    },
  };
  plan.apply = (client, message) => {
    const { type, name = "", cursor = "" }: { type: string; name?: string; cursor?: string } = message;
    debug(`${type} ${name} ${cursor}`);
    return apply(client, message);
  };
  add("connection", ({ state, transport, reason }) => debug(`${state} ${transport} ${reason}`));
}
