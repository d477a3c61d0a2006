/** On whose behalf something waits. */
export interface Claimant {
  /** Items of one name leave in the order in which they came; different names take turns. */
  readonly name: string;
  /** It has a key: it goes before those without. */
  readonly isKeyed: boolean;
}

/** After so many items with a key in a row comes one without, if there is one: keys go first, and starve nobody. */
const MAX_KEYED_IN_A_ROW = 3;

/** The items of one name, in the order in which they came. */
type Lanes<T> = Map<string, Set<T>>;

/** A queue in which claimants take turns, however many items each of them has in it. */
export class FairQueue<T> {
  readonly #keyed: Lanes<T> = new Map();
  readonly #others: Lanes<T> = new Map();
  #size = 0;
  #keyedInARow = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds an item that is not in the queue. */
  push(item: T, { name, isKeyed }: Claimant): void {
    const lanes = isKeyed ? this.#keyed : this.#others;
    const lane = lanes.get(name);
    if (lane) lane.add(item);
    else lanes.set(name, new Set([item]));
    this.#size += 1;
  }

  /** Removes an item; nothing happens where it is not in the queue. */
  delete(item: T, { name, isKeyed }: Claimant): void {
    const lanes = isKeyed ? this.#keyed : this.#others;
    const lane = lanes.get(name);
    if (!lane?.delete(item)) return;
    this.#size -= 1;
    if (lane.size === 0) lanes.delete(name);
  }

  /** Removes and returns the next item; `undefined` when the queue is empty. */
  shift(): T | undefined {
    const isOthersTurn = this.#keyedInARow >= MAX_KEYED_IN_A_ROW && this.#others.size > 0;
    const isKeyed = this.#keyed.size > 0 && !isOthersTurn;
    this.#keyedInARow = isKeyed ? this.#keyedInARow + 1 : 0;
    return this.#take(isKeyed ? this.#keyed : this.#others);
  }

  /** The first item of the lane at the front, which then goes to the back. */
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
