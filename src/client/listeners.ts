import { EVENT_NAMES } from "./options.ts";
import type { Listened, Listener } from "./stream.ts";
import { StreamError } from "./stream-error.ts";

export const LISTENED = [...EVENT_NAMES, "event", "reset", "connection", "error"] satisfies string[];

interface Listeners {
  /** Adds a listener, even twice, and returns a function that removes it. */
  readonly add: <N extends keyof Listened>(name: N, listener: Listener<N>) => () => void;
  /** Calls the listeners. Errors of one are reported and do not affect the others. */
  readonly emit: <N extends keyof Listened>(name: N, value: Listened[N]) => void;
}

export function createListeners(): Listeners {
  let all: readonly (readonly [name: string, listener: (value: never) => unknown])[] = [];
  const emit = <N extends keyof Listened>(name: N, value: Listened[N]) => {
    const own = all.filter(([under]) => under === name);
    if (name === "error" && !own[0]) void Promise.reject(value);
    for (const [, listener] of own) {
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
    add: (name, listener) => {
      const own = [name, listener] as const;
      all = [...all, own];
      return () => {
        all = all.filter((one) => one !== own);
      };
    },
    emit,
  };
}
