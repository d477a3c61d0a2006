import { z } from "zod";
import type { ListItem, Snapshot } from "../model/index.ts";
import { keyOf } from "../model/key-of.ts";
import { LIST_CHANNEL_NAMES, type ListChannel } from "./channels.ts";
import { type Lists, listsOf, type Marks, marksOf } from "./view/lists.ts";
import { listOf } from "./view/view.ts";

const Texts = z.array(z.string()).max(1_000);

/**
 * An item's addresses, symbols, highest liquidity and highest price change, as in {@link Marks}.
 * `null` stands for -Infinity. The age is not included, because an explanation keeps it.
 */
const MarksEntry = z.tuple([Texts, Texts, z.number().nullable(), z.number().nullable()]);

export const MarksText = z
  .partialRecord(z.enum(LIST_CHANNEL_NAMES), z.record(z.string(), MarksEntry))
  .describe("Marks by channel and key, for the items whose marks do not follow from their current fields.");
export type MarksText = z.infer<typeof MarksText>;

/** Returns the marks that do not follow from the snapshot, as a JSON value. */
export function formatMarks({ snapshot, marks }: Lists): MarksText {
  const text: MarksText = {};
  for (const channel of LIST_CHANNEL_NAMES) {
    const entries = listOf(snapshot, channel).flatMap((item) => entryOf(item, marks[channel]));
    if (entries.length > 0) text[channel] = Object.fromEntries(entries);
  }
  return text;
}

/**
 * Restores the lists from {@link formatMarks}'s result. Ignores marks of items that are not in the
 * channel's list.
 */
export function readMarks(snapshot: Snapshot, text: MarksText): Lists {
  const lists = listsOf(snapshot);
  const read = (channel: ListChannel): ReadonlyMap<string, Marks> => {
    const marks = new Map(lists.marks[channel]);
    for (const [key, entry] of Object.entries(text[channel] ?? {})) {
      const current = marks.get(key);
      if (!current) continue;
      const [tokens, symbols, liquidity, priceChange] = entry;
      const highest = { liquidity: orNone(liquidity), priceChange: orNone(priceChange) };
      marks.set(key, { ...current, tokens, symbols, ...highest });
    }
    return marks;
  };
  const entries = LIST_CHANNEL_NAMES.map((channel) => [channel, read(channel)]);
  return { snapshot, marks: Object.fromEntries(entries) as Lists["marks"] };
}

type Entry = readonly [string, z.infer<typeof MarksEntry>];

function entryOf(item: ListItem, marks: ReadonlyMap<string, Marks>): readonly Entry[] {
  const key = keyOf(item);
  const [own, now] = [marks.get(key), marksOf(item)];
  if (own === undefined || own === now) return [];
  const entry = toEntry(own);
  return JSON.stringify(entry) === JSON.stringify(toEntry(now)) ? [] : [[key, entry]];
}

function toEntry({ tokens, symbols, liquidity, priceChange }: Marks): z.infer<typeof MarksEntry> {
  const stated = (value: number) => (Number.isFinite(value) ? value : null);
  return [[...tokens], [...symbols], stated(liquidity), stated(priceChange)];
}

function orNone(value: number | null): number {
  return value ?? Number.NEGATIVE_INFINITY;
}
