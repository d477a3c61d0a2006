import { EventEmitter } from "node:events";
import { PrimaryLink } from "../../src/workers/index.ts";
import type { ToPrimary, ToWorker } from "../../src/workers/messages.ts";

/** Creates a worker's link to a primary that the test plays. */
export function linked() {
  const sent: ToPrimary[] = [];
  const other: ToWorker["type"][] = [];
  const line = new EventEmitter();
  const parent = Object.assign(line, {
    send: (message: unknown) => {
      sent.push(message as ToPrimary);
      return true;
    },
  });
  const link = new PrimaryLink(parent, ({ type }) => other.push(type));
  const say = (message: ToWorker, handle?: unknown) => void line.emit("message", message, handle);
  /** Answers the worker's question number `at`. */
  const answer = (at: number, value: unknown) => {
    const asked = sent.filter((message) => message.type === "ask")[at];
    if (!asked) throw new Error(`the worker has not asked question ${at}`);
    say({ type: "answer", id: asked.id, answer: { value } });
  };
  return { link, say, sent, other, answer };
}
