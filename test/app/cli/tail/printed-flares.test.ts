import { expect, test } from "vitest";
import type { TailEvent } from "../../../../src/app/cli/tail/event-lines.ts";
import { PrintedNews, PrintedReasons } from "../../../../src/app/cli/tail/printed-flares.ts";

const START = "5 times the usual buyers, price 26 % above normal; $16.8K liquidity is thin";

function eventOf(name: string, text: string, { id = "a", channel = "flares.pro" } = {}): TailEvent {
  const item = name === "flare-updated" ? { id } : { flare: { id } };
  return { name, channel, observed_at: "", data: { ...item, why: { text } } };
}

test("an update has only the changed parts of its flare's last reason, and is left out if nothing has changed", () => {
  const reasons = new PrintedReasons();
  const printed = (...args: Parameters<typeof eventOf>) =>
    Object(reasons.shorten(eventOf(...args))?.data.why).text;
  expect(printed("flare-started", START)).toBe(START);
  expect(printed("flare-updated", START.replace("26", "27"))).toBe("price 27 % above normal");
  const again = eventOf("flare-updated", START.replace("26", "27"));
  expect(reasons.shorten(again)).toBeUndefined();
  const changed = { ...again, data: { ...again.data, set: { liquidity: "9" } } };
  expect(Object(reasons.shorten(changed)?.data.why).text).toBe("");
  const both = START.replace("5 times", "6 times").replace("16.8", "17");
  expect(printed("flare-updated", both)).toBe(
    "6 times the usual buyers, price 26 % above normal, $17K liquidity is thin",
  );
  expect(printed("flare-updated", `${both}; warning: one large buyer`)).toBe(
    `${both}; warning: one large buyer`,
  );
  expect(printed("flare-updated", START, { id: "b" })).toBe(START);
  expect(printed("flare-updated", START, { channel: "flares.free" })).toBe(START);
  expect(printed("flare-running", START)).toBe(START);
});

test("a surge and a finish that several channels report are repeated, the next surge is not", () => {
  const news = new PrintedNews();
  const isRepeated = (name: string, number?: number) =>
    news.isRepeated({ ...eventOf(name, START), data: { flare: { id: "a" }, surge: number && { number } } });
  const events = [["flare-surged", 1], ["flare-surged", 1], ["flare-surged", 2], ["flare-finished"]] as const;
  expect(events.map(([name, number]) => isRepeated(name, number))).toEqual([false, true, false, false]);
  expect([isRepeated("flare-finished"), isRepeated("flare-updated")]).toEqual([true, false]);
});

test.for([
  ["a replaced part", START.replace("$16.8K liquidity is thin", "warning: unverified source")],
  ["another word in a part", START.replace("26 % above", "5 % below")],
  ["a part less", START.replace("; $16.8K liquidity is thin", "")],
] as const)("an update with %s has the whole reason, so that nothing hides what is over", ([, text]) => {
  const reasons = new PrintedReasons();
  reasons.shorten(eventOf("flare-started", START));
  expect(Object(reasons.shorten(eventOf("flare-updated", text))?.data.why).text).toBe(text);
});

test.for([
  ["16.8K", "900"],
  ["5 times", "1000+ times"],
] as const)("an update with %s changed to %s has only that part", ([from, to]) => {
  const reasons = new PrintedReasons();
  reasons.shorten(eventOf("flare-started", START));
  const { text } = Object(reasons.shorten(eventOf("flare-updated", START.replace(from, to)))?.data.why);
  expect(START.replace(from, to).split(/[,;] /)).toContain(text);
});
