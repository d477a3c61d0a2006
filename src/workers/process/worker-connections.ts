import { EventEmitter } from "node:events";
import type { ConnectionHolder, MetricsText, Refusal, SlotAllocator } from "../../http/index.ts";
import type { IssuedTicket } from "../../keys/index.ts";
import { assertNever } from "../../lib/assert-never.ts";
import type { Holder, Question, ToWorker } from "../messages.ts";

/** What the primary has for all workers: the places, the tickets, and the numbers of the whole. */
export interface PrimaryServices {
  readonly places: SlotAllocator;
  readonly tickets: {
    issue(keyId: string): IssuedTicket;
    keyOf(ticket: string): string | undefined;
  };
  readonly metrics: MetricsText | undefined;
  /** The key ended after so many ends: who was let in with it by then is not any more. */
  hasEnded(keyId: string, ends: number): boolean;
}

/** A connection at a worker, as the primary's places see it. */
class WorkerWire extends EventEmitter<{ close: [] }> {
  readonly #cut: () => void;

  constructor(cut: () => void) {
    super();
    this.#cut = cut;
  }

  destroy(): void {
    this.#cut();
  }
}

/**
 * What one worker has taken of what belongs to all: the places of its connections, and the seats of those who wait. Decided here, where all are counted, so
 * bounds, tickets and a client's one place hold across workers, exactly.
 */
export class WorkerWires {
  readonly #whole: PrimaryServices;
  readonly #send: (message: ToWorker) => void;
  readonly #wires = new Map<number, WorkerWire>();
  readonly #waits = new Map<number, ConnectionHolder>();

  constructor(whole: PrimaryServices, send: (message: ToWorker) => void) {
    this.#whole = whole;
    this.#send = send;
  }

  /** Answers a question. Throws, or rejects with, FlarewireError where there is nothing to be had. */
  async answer(question: Question): Promise<unknown> {
    const { tickets, metrics } = this.#whole;
    switch (question.kind) {
      case "seat":
        return this.#seat(question);
      case "sit":
        return this.#sit(question);
      case "issue":
        return tickets.issue(question.keyId);
      case "holder":
        return tickets.keyOf(question.ticket);
      case "metrics":
        return metrics?.text();
      default:
        return assertNever(question);
    }
  }

  /** The connection, or the wait, is over. */
  left(place: number): void {
    this.#wires.get(place)?.emit("close");
    this.#wires.delete(place);
    const guest = this.#waits.get(place);
    this.#waits.delete(place);
    if (guest) this.#whole.places.leave(guest);
  }

  /** The worker is gone, and with it all that it had. */
  leaveAll(): void {
    for (const place of [...this.#wires.keys(), ...this.#waits.keys()]) this.left(place);
  }

  /** The worker let it in before it heard that the key had ended, and all that was open with the key has been closed already. */
  #isLate(key: Holder | undefined): boolean {
    return key !== undefined && this.#whole.hasEnded(key.id, key.ends);
  }

  async #seat(asked: Question & { kind: "seat" }): Promise<Refusal | undefined> {
    const { place, address, name, key, ticket } = asked;
    const { places } = this.#whole;
    if (this.#isLate(key)) return { kind: "ended" };
    const wire = new WorkerWire(() => this.#send({ type: "cut", place }));
    this.#wires.set(place, wire);
    // What the plan is only the worker has to know.
    const refusal = await places.seat(wire, address, name, { plan: undefined, key, ticket });
    if (refusal) this.#wires.delete(place);
    places.placeOf(wire)?.taken({ close: (reason) => this.#send({ type: "end", place, reason }) });
    return refusal;
  }

  async #sit(asked: Question & { kind: "sit" }): Promise<Refusal | undefined> {
    const { place, address, key } = asked;
    if (this.#isLate(key)) return { kind: "ended" };
    const guest: ConnectionHolder = {
      address,
      key,
      end: (reason) => this.#send({ type: "end", place, reason }),
    };
    const refusal = await this.#whole.places.sit(guest);
    if (!refusal) this.#waits.set(place, guest);
    return refusal;
  }
}
