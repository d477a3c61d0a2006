import { difference, type JsonObject, show, valueAt } from "./json.ts";
import { Failure } from "./verdict.ts";
import { itemOf, type View } from "./view.ts";

const RULE = ["W45"];

/** Checks the surges of one line (W45). */
export class SurgeCheck {
  /** The number of the latest surge, by channel and flare. */
  readonly #numbers = new Map<string, number>();

  /** Forgets the surges before a reset: another epoch may count again. */
  reset(): void {
    this.#numbers.clear();
  }

  /**
   * Checks an event between two views, which are `undefined` if the line maintains no lists. Throws
   * Failure.
   */
  take(event: JsonObject, before: View | undefined, after: View | undefined): void {
    const { name, channel, data } = event;
    const id = String(valueAt(data, "/id"));
    const number = Number(valueAt(data, "/why/surge/number") ?? 0);
    const held = Number(valueAt(before?.explanations, `/${id}/surge/number`) ?? 0);
    const isRunning = /^flares\..*(free|pro)$/.test(String(channel));
    if (name === "flare-updated" && isRunning && before && number > held)
      throw new Failure(`flare-surged with surge ${number}`, `flare-updated ${event.seq}`, RULE);
    if (name !== "flare-surged") return;
    expectEqual(valueAt(data, "/why/surge"), valueAt(data, "/surge"), "why.surge");
    expectEqual(id, valueAt(data, "/flare/id"), "id");
    const what = `${channel} ${id}`;
    const least = Math.max(held, (this.#numbers.get(what) ?? 0) + 1);
    if (number < least) throw new Failure(`surge ${least} or a later one`, `surge ${number}`, RULE);
    this.#numbers.set(what, number);
    // If the line has the list, the flare is in it: otherwise the change would not have fitted.
    const listed = after && itemOf(after, String(channel), id);
    if (listed !== undefined) expectEqual(listed, valueAt(data, "/flare"), "flare");
  }
}

function expectEqual(expected: unknown, came: unknown, what: string): void {
  const found = difference(expected, came);
  if (found) throw new Failure(`${show(found.left)} at ${what}${found.path}`, show(found.right), RULE);
}
