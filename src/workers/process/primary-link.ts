import type { Socket } from "node:net";
import { FlarewireError } from "../../base/protocol/index.ts";
import type { Answer, LogUpdate, Question, ToPrimary, ToWorker } from "../messages.ts";

/** The members of `process` that a link needs. */
interface ParentChannel {
  send?(
    message: unknown,
    handle: undefined,
    options: undefined,
    done: (error: Error | null) => void,
  ): boolean;
  on(event: "message", listener: (message: unknown, handle: unknown) => void): unknown;
  once(event: "disconnect", listener: () => void): unknown;
}

type OtherMessage = Exclude<ToWorker, LogUpdate | { type: "connection" | "answer" }>;

/** A worker's side of the channel to its primary. */
export class PrimaryLink {
  readonly #channel: ParentChannel;
  readonly #answers = new Map<number, (answer: Answer) => void>();
  /** Updates that arrived before their listener was set. */
  readonly #early: LogUpdate[] = [];
  #onUpdate: ((message: LogUpdate) => void) | undefined;
  #onConnection: (socket: Socket) => void = (socket) => socket.destroy();
  #lastId = 0;

  /** @param onMessage Receives all messages without a listener of their own. Must not throw. */
  constructor(channel: ParentChannel, onMessage: (message: OtherMessage) => void) {
    this.#channel = channel;
    channel.on("message", (message, handle) => this.#receive(message as ToWorker, handle, onMessage));
  }

  send(message: ToPrimary): void {
    // When the channel breaks, Node's `process` emits `disconnect`.
    this.#channel.send?.(message, undefined, undefined, () => {});
  }

  /** Asks the primary. Rejects with its FlarewireError. Never settles if the primary is gone. */
  async ask(question: Question): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise<Answer>((resolve) => this.#answers.set(id, resolve));
    this.send({ type: "ask", id, question });
    const answer = await answered;
    if (!("error" in answer)) return answer.value;
    const { code, message, bound } = answer.error;
    throw new FlarewireError(code, message, { bound });
  }

  /** Sets the listener for the primary's log. It receives earlier messages too. */
  onUpdate(listener: (message: LogUpdate) => void): void {
    this.#onUpdate = listener;
    for (const message of this.#early.splice(0)) listener(message);
  }

  /** Sets the listener for connections that the primary hands over. */
  onConnection(listener: (socket: Socket) => void): void {
    this.#onConnection = listener;
  }

  #receive(message: ToWorker, handle: unknown, onMessage: (message: OtherMessage) => void): void {
    if (message.type === "batch" || message.type === "begin") {
      if (this.#onUpdate) this.#onUpdate(message);
      else this.#early.push(message);
    } else if (message.type === "answer") {
      this.#answers.get(message.id)?.(message.answer);
      this.#answers.delete(message.id);
    } else if (message.type === "connection") {
      this.send({ type: "taken" });
      // The connection may have closed in transit.
      if (handle) this.#onConnection(handle as Socket);
    } else onMessage(message);
  }
}
