/** The client for which an item waits. */
export interface Claimant {
  /** Items of one client leave in order of arrival. Different clients take turns. */
  readonly name: string;
  /** Has an API key. Keyed clients go before others. */
  readonly isKeyed: boolean;
}

/** Keyed items served in a row before one unkeyed item, so that unkeyed clients do not starve. */
const MAX_KEYED_IN_A_ROW = 3;

/** Items by client name, in order of arrival. */
type Lanes<T> = Map<string, Set<T>>;

/** A queue that serves clients in turn, however many items each of them has queued. */
export class FairQueue<T> {
  readonly #keyed: Lanes<T> = new Map();
  readonly #unkeyed: Lanes<T> = new Map();
  #size = 0;
  #keyedInARow = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns how many items of the client are queued. */
  sizeOf({ name, isKeyed }: Claimant): number {
    return (isKeyed ? this.#keyed : this.#unkeyed).get(name)?.size ?? 0;
  }

  /** Queues an item, which must not be in the queue yet. */
  push(item: T, { name, isKeyed }: Claimant): void {
    const lanes = isKeyed ? this.#keyed : this.#unkeyed;
    const lane = lanes.get(name);
    if (lane) lane.add(item);
    else lanes.set(name, new Set([item]));
    this.#size += 1;
  }

  delete(item: T, { name, isKeyed }: Claimant): void {
    const lanes = isKeyed ? this.#keyed : this.#unkeyed;
    const lane = lanes.get(name);
    if (!lane?.delete(item)) return;
    this.#size -= 1;
    if (lane.size === 0) lanes.delete(name);
  }

  shift(): T | undefined {
    const isUnkeyedTurn = this.#keyedInARow >= MAX_KEYED_IN_A_ROW && this.#unkeyed.size > 0;
    const isKeyed = this.#keyed.size > 0 && !isUnkeyedTurn;
    this.#keyedInARow = isKeyed ? this.#keyedInARow + 1 : 0;
    return this.#take(isKeyed ? this.#keyed : this.#unkeyed);
  }

  /** Takes the first item of the front lane and moves that lane to the back. */
  #take(lanes: Lanes<T>): T | undefined {
    const [front] = lanes;
    if (!front) return undefined;
    const [name, lane] = front;
    const [item] = lane;
    lanes.delete(name);
    if (item === undefined) return undefined;
    lane.delete(item);
    this.#size -= 1;
    if (lane.size > 0) lanes.set(name, lane);
    return item;
  }
}
