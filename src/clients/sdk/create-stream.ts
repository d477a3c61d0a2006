import type { AnyFlare } from "../../base/model/index.ts";
import type { Hello } from "../../base/protocol/messages.ts";
import type { ClientState, StreamItem } from "./client-state.ts";
import { createConnection } from "./connection.ts";
import type { Input } from "./connection-state.ts";
import { createFreshness } from "./freshness.ts";
import { createListeners } from "./listeners.ts";
import type { StreamPlan } from "./options.ts";
import type { Stream } from "./stream.ts";
import { misuse, StreamError } from "./stream-error.ts";
import { endOf } from "./transport/end.ts";
import type { TransportMessage } from "./transport/transport.ts";

/** The part of a stream that the smallest programs use. */
export type BasicStream = Omit<Stream<AnyFlare>, "once" | "off" | "update">;

/**
 * Creates a stream, and a function that controls its connection. It connects in a microtask, so
 * that listeners added now miss nothing.
 */
export function createStream(plan: StreamPlan, { add, emit } = createListeners()) {
  const freshness = createFreshness(plan.platform.now);
  const over = new AbortController();
  let client: ClientState = { cursor: plan.after, view: undefined, started: false };
  let queue: StreamItem<AnyFlare>[] | undefined;
  let wake = () => {};
  let refusal: string | undefined;
  let server: Hello | undefined;

  /** Made where it is thrown, so that the stack of an uncaught error names the reader's line. */
  const refused = () =>
    new StreamError("refused", `the server refused the stream: ${refusal}; change the request or the key`);

  const changed = () => {
    const now = status();
    emit("connection", now);
    if (now.state !== "closed") return;
    over.abort();
    refusal = now.reason;
    if (refusal && !queue) emit("error", refused());
    wake();
  };

  const emitItem = (item: StreamItem<AnyFlare>) => {
    if (queue && queue.push(item) >= plan.queueLimit) input({ type: "hold", hold: "slow" });
    wake();
    if (item.name !== "reset") emit("event", item);
    if (over.signal.aborted) return;
    // The name and its value match, which types cannot express across a union.
    emit(item.name, item as never);
  };

  const receive = (message: TransportMessage) => {
    let item: StreamItem<AnyFlare> | undefined;
    try {
      if (message.type === "hello") server = message;
      ({ client, item } = plan.apply(client, message));
      if (message.type === "subscribed" && !plan.selection.keepsView) client = { ...client, view: undefined };
    } catch (error) {
      const end = endOf(error);
      // Resuming from the cursor repairs a gap. A mismatch with the lists requires new ones.
      if (end !== error) client = { ...client, cursor: undefined };
      throw end;
    }
    freshness.note(message);
    if (item) emitItem(item);
  };

  const { status, input } = createConnection(plan, { cursor: () => client.cursor, receive, changed });
  async function* read(items: StreamItem<AnyFlare>[]): AsyncGenerator<StreamItem<AnyFlare>, undefined> {
    try {
      // Start the generator now: before its first step it would end without running finally.
      yield undefined as never;
      for (;;) {
        const item = items.shift();
        if (item) {
          if (items.length <= plan.queueLimit / 2) input({ type: "release", hold: "slow" });
          yield item;
        } else if (refusal) throw refused();
        else if (over.signal.aborted) return;
        else {
          await new Promise<void>((next) => {
            wake = next;
          });
        }
      }
    } finally {
      queue = undefined;
      input({ type: "release", hold: "slow" });
    }
  }

  const stream: BasicStream = {
    get view() {
      return client.view;
    },
    get cursor() {
      return client.cursor;
    },
    get connection() {
      return status();
    },
    get server() {
      return server;
    },
    get freshness() {
      return freshness.now();
    },
    on: add,
    [Symbol.asyncIterator]() {
      if (queue) misuse("the stream has a reader", "use on() for other readers");
      if (!refusal && over.signal.aborted) misuse("the stream is closed", "connect again");
      const { cursor, view, started } = client;
      // A late reader must start with the current lists.
      queue = started && cursor ? [{ name: "reset", reason: "started", lost: 0, cursor, view }] : [];
      const reader = read(queue);
      void reader.next();
      return reader;
    },
    close: () => input({ type: "close" }),
  };
  watch(plan, over.signal, input);
  queueMicrotask(() => input({ type: plan.signal?.aborted ? "close" : "online" }));
  return { stream, input };
}

/**
 * Closes on abort, pauses once the page has been hidden for a while, and reconnects when it is
 * visible again or the network is back.
 */
function watch(
  { platform, pauseHiddenAfterMs, signal }: StreamPlan,
  over: AbortSignal,
  input: (input: Input) => void,
): void {
  const { document, window, after } = platform;
  let cancel = () => {};
  const look = () => {
    cancel();
    if (!document?.hidden) input({ type: "release", hold: "hidden" });
    else cancel = after(pauseHiddenAfterMs, () => input({ type: "hold", hold: "hidden" }));
  };
  const until = { signal: over };
  document?.addEventListener("visibilitychange", look, until);
  window?.addEventListener("online", () => input({ type: "online" }), until);
  signal?.addEventListener("abort", () => input({ type: "close" }), until);
  look();
}
