import type { AnyFlare } from "../../base/model/index.ts";
import type { Listened as ListenedTo, Listener as ListenerTo } from "./stream.ts";
import { StreamError } from "./stream-error.ts";

type Listened = ListenedTo<AnyFlare>;
type Listener<N extends keyof Listened> = ListenerTo<N, AnyFlare>;

export type Listeners = ReturnType<typeof createListeners>;

type Entry = readonly [name: string, listener: (value: never) => unknown, isOnce?: boolean | undefined];

export function createListeners() {
  let all: readonly Entry[] = [];
  const keep = (test: (entry: Entry) => boolean) => {
    all = all.filter(test);
  };
  /** Calls the listeners. An error of one is reported and does not affect the others. */
  const emit = <N extends keyof Listened>(name: N, value: Listened[N]) => {
    const own = all.filter(([under]) => under === name);
    if (name === "error" && !own[0]) void Promise.reject(value);
    for (const entry of own) {
      const [, listener, isOnce] = entry;
      if (isOnce) keep((other) => other !== entry);
      // Called at once; what it throws, now or later, becomes a rejection.
      const called = (async () => listener(value as never))();
      called.catch((cause) => {
        const error = new StreamError(
          "listener",
          `the listener of "${name}" threw ${cause}: catch it there`,
          { cause },
        );
        if (name === "error") throw error;
        emit("error", error);
      });
    }
  };
  return {
    /** Adds a listener, even twice, and returns a function that removes it. */
    add: <N extends keyof Listened>(name: N, listener: Listener<N>, isOnce?: boolean) => {
      const own = [name, listener, isOnce] as const;
      all = [...all, own];
      return () => keep((entry) => entry !== own);
    },
    remove: <N extends keyof Listened>(name: N, listener: Listener<N>): void =>
      keep((entry) => entry[0] !== name || entry[1] !== listener),
    emit,
  };
}
