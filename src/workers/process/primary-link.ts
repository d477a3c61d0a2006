import type { Socket } from "node:net";
import { assertNever } from "../../lib/assert-never.ts";
import { FlarewireError } from "../../protocol/index.ts";
import type { Answer, FeedMessage, Question, ToPrimary, ToWorker } from "../messages.ts";

/** What of the process a link needs: `process` of a child is one. */
export interface ParentLine {
  send?(
    message: unknown,
    handle: undefined,
    options: undefined,
    done: (error: Error | null) => void,
  ): boolean;
  on(event: "message", listener: (message: unknown, handle: unknown) => void): unknown;
  once(event: "disconnect", listener: () => void): unknown;
}

type Started = Exclude<ToWorker, FeedMessage | { type: "connection" | "answer" }>;

/** A worker's side of the line to its primary. */
export class PrimaryLink {
  readonly #line: ParentLine;
  readonly #answers = new Map<number, (answer: Answer) => void>();
  /** What came before anybody wanted it. */
  readonly #early: FeedMessage[] = [];
  #onFeed: ((message: FeedMessage) => void) | undefined;
  #onConnection: (socket: Socket) => void = (socket) => socket.destroy();
  #lastId = 0;

  /** `onMessage`: told of all but what is for the others. Must not throw. */
  constructor(line: ParentLine, onMessage: (message: Started) => void) {
    this.#line = line;
    line.on("message", (message, handle) => this.#take(message as ToWorker, handle, onMessage));
  }

  send(message: ToPrimary): void {
    // Of a line that is cut the process is told.
    this.#line.send?.(message, undefined, undefined, () => {});
  }

  /** Rejects with the primary's FlarewireError. Never resolves where the primary is gone: the worker ends then. */
  async ask(question: Question): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise<Answer>((resolve) => this.#answers.set(id, resolve));
    this.send({ type: "ask", id, question });
    const answer = await answered;
    if (!("error" in answer)) return answer.value;
    const { code, message, bound } = answer.error;
    throw new FlarewireError(code, message, bound === undefined ? {} : { bound });
  }

  /** Hears of what happens in the primary's log, from the beginning. */
  onFeed(listener: (message: FeedMessage) => void): void {
    this.#onFeed = listener;
    for (const message of this.#early.splice(0)) listener(message);
  }

  /** Takes the connections that are handed over. */
  onConnection(listener: (socket: Socket) => void): void {
    this.#onConnection = listener;
  }

  #take(message: ToWorker, handle: unknown, onMessage: (message: Started) => void): void {
    switch (message.type) {
      case "batch":
      case "begin":
        if (this.#onFeed) this.#onFeed(message);
        else this.#early.push(message);
        break;
      case "answer":
        this.#answers.get(message.id)?.(message.answer);
        this.#answers.delete(message.id);
        break;
      case "connection":
        this.send({ type: "taken" });
        // It may have ended on the way.
        if (handle) this.#onConnection(handle as Socket);
        break;
      case "start":
      case "records":
      case "place":
      case "filled":
      case "news":
      case "end":
      case "cut":
      case "keys":
      case "ended":
      case "counted":
      case "measure":
      case "drain":
        onMessage(message);
        break;
      default:
        assertNever(message);
    }
  }
}
