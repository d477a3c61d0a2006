import { EventEmitter } from "node:events";
import type { ConnectionHolder, MetricsText, Refusal, SlotAllocator } from "../../http/index.ts";
import type { IssuedTicket } from "../../keys/index.ts";
import { assertNever } from "../../lib/assert-never.ts";
import type { Holder, Question, ToWorker } from "../messages.ts";

/** The primary's services for all workers: connection registry, tickets and merged metrics. */
export interface PrimaryServices {
  readonly places: SlotAllocator;
  readonly tickets: {
    issue(keyId: string): IssuedTicket;
    keyOf(ticket: string): string | undefined;
  };
  readonly metrics: MetricsText | undefined;
  /**
   * Whether the key ended after `ends` key ends. A worker that admitted a client earlier must close
   * it.
   */
  hasEnded(keyId: string, ends: number): boolean;
}

/** A worker's connection as the primary's registry sees it. */
class WorkerConnection extends EventEmitter<{ close: [] }> {
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
 * One worker's share of the common slots. The primary decides, so limits, tickets and the one
 * connection per client hold exactly across workers.
 */
export class WorkerConnections {
  readonly #services: PrimaryServices;
  readonly #send: (message: ToWorker) => void;
  readonly #wires = new Map<number, WorkerConnection>();
  readonly #waits = new Map<number, ConnectionHolder>();

  constructor(services: PrimaryServices, send: (message: ToWorker) => void) {
    this.#services = services;
    this.#send = send;
  }

  /** Answers a request. Throws or rejects with FlarewireError if it is refused. */
  async answer(question: Question): Promise<unknown> {
    const { tickets, metrics } = this.#services;
    switch (question.kind) {
      case "admit":
        return this.#admit(question);
      case "acquire":
        return this.#acquire(question);
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

  /** Releases the slot of a closed connection or wait. */
  left(place: number): void {
    this.#wires.get(place)?.emit("close");
    this.#wires.delete(place);
    const holder = this.#waits.get(place);
    this.#waits.delete(place);
    if (holder) this.#services.places.release(holder);
  }

  /** Releases all slots of a worker that is gone. */
  leaveAll(): void {
    for (const place of [...this.#wires.keys(), ...this.#waits.keys()]) this.left(place);
  }

  /**
   * Whether the key ended before the worker knew. Its connections have been closed already, so this
   * one must not open.
   */
  #isLate(key: Holder | undefined): boolean {
    return key !== undefined && this.#services.hasEnded(key.id, key.ends);
  }

  async #admit(asked: Question & { kind: "admit" }): Promise<Refusal | undefined> {
    const { place, address, name, key, ticket } = asked;
    const { places } = this.#services;
    if (this.#isLate(key)) return { kind: "ended" };
    const wire = new WorkerConnection(() => this.#send({ type: "cut", place }));
    this.#wires.set(place, wire);
    // Only the worker needs the plan.
    const refusal = await places.admit(wire, address, name, { plan: undefined, key, ticket });
    if (refusal) this.#wires.delete(place);
    places.slotOf(wire)?.taken({ close: (reason) => this.#send({ type: "end", place, reason }) });
    return refusal;
  }

  async #acquire(asked: Question & { kind: "acquire" }): Promise<Refusal | undefined> {
    const { place, address, key } = asked;
    if (this.#isLate(key)) return { kind: "ended" };
    const holder: ConnectionHolder = {
      address,
      key,
      end: (reason) => this.#send({ type: "end", place, reason }),
    };
    const refusal = await this.#services.places.acquire(holder);
    if (!refusal) this.#waits.set(place, holder);
    return refusal;
  }
}
