import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import { RecentKeys } from "../../../clients/text/index.ts";
import type { TailEvent } from "./event-lines.ts";
import { asRecord } from "./symbol-index.ts";

/** Maximum number of surges and finishes, or of flares and channels, that are remembered. */
const MAX_REMEMBERED = 10_000;

/** Remembers the printed surges and finishes, because each channel of a flare reports them. */
export class PrintedNews {
  readonly #known = new RecentKeys<string>(MAX_REMEMBERED);

  /** Returns whether another event has already reported this surge or finish. Remembers it. */
  isRepeated({ name, data }: TailEvent): boolean {
    if (name !== "flare-finished" && name !== "flare-surged") return false;
    const id = data.id ?? Object(data.flare).id;
    const number = name === "flare-surged" ? asRecord(data.surge)?.number : "end";
    return id !== undefined && this.#known.isRepeat(`${number} ${id}`);
  }
}

/** Remembers the last reason of each flare and channel, so that an update repeats no part of it. */
export class PrintedReasons {
  readonly #texts = new BoundedMap<string, string>(MAX_REMEMBERED);

  /**
   * Returns an update with the changed parts of its reason only, `undefined` if nothing is left,
   * and any other event as it is. If more than numbers changed, the reason stays whole: otherwise
   * nothing would say that a part is gone.
   */
  shorten(event: TailEvent): TailEvent | undefined {
    const { name, channel, data } = event;
    const why = asRecord(data.why);
    const id = data.id ?? asRecord(data.flare)?.id;
    if (typeof why?.text !== "string" || typeof id !== "string") return event;
    const key = `${channel} ${id}`;
    const before = this.#texts.get(key) ?? "";
    this.#texts.set(key, why.text);
    if (name !== "flare-updated" || wordsOf(before) !== wordsOf(why.text)) return event;
    const known = partsOf(before);
    const text = partsOf(why.text)
      .filter((part) => !known.includes(part))
      .join(", ");
    if (text === "" && Object.keys(asRecord(data.set) ?? {}).length === 0) return undefined;
    return { ...event, data: { ...data, why: { ...why, text } } };
  }
}

const partsOf = (text: string) => text.split(/[,;] /);
/** Replaces the numbers, such as `1000+` and `16.8K`. */
const wordsOf = (text: string) => text.replace(/\d[\d.]*[KMB+]?/g, "#");
