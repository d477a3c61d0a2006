import { expect, test } from "vitest";
import { flarePicture, lookOf } from "../../../src/extensions/permalinks/flare-facts.ts";
import { readFonts } from "../../../src/extensions/permalinks/picture/fonts.ts";
import { Pictures } from "../../../src/extensions/permalinks/picture/pictures.ts";
import {
  PICTURE_HEIGHT,
  PICTURE_WIDTH,
  type ShareFacts,
  sharePicture,
} from "../../../src/extensions/permalinks/picture/share-picture.ts";
import { SAMPLE_EXCHANGE_FLARE, SAMPLE_EXPLANATION, SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const { fonts: FONTS } = readFonts();

const FACTS: ShareFacts = {
  symbol: "FLARE",
  name: "Flare Token",
  isMixed: false,
  fate: ["flaring", "Flaring now"],
  sentence: "49 times the usual buyers, buys outweigh sells 3:1.",
  figures: [{ name: "Last 5 minutes", value: "+12.3 %", look: "up" }],
  candles: [0, 1, 2].map((minute) => ({
    open_at: new Date(minute * 60_000).toISOString(),
    close: String(1 + minute),
    volume: "10",
  })),
  spans: [{ startMs: 60_000, endMs: undefined }],
  note: "2026-01-01 00:00 UTC",
  market: undefined,
};

const HOSTILE = {
  markup: `</text><image href="file:///etc/passwd"/><script>alert(1)</script>"'&amp;]]>`,
  "an entity": "&xxe;&#x202e;<!DOCTYPE x>",
  "a right-to-left override": "\u202Egnp.tpircs\u2066\u2069\u200f",
  "control characters": "A\0B\x07C\x1b[31m\u0085\uFFFE\uFFFF",
  "half a character": "\ud800A\udc00",
  emoji: "🐸👨‍👩‍👧‍👦🏳️‍🌈",
  "Chinese, Arabic and Hebrew": "币安人生 مرحبا שלום",
  "piled marks": `Z${"\u0351".repeat(200)}algo`,
  "10 kB": "W".repeat(10_000),
  "10 kB without a space": "\u{1F525}".repeat(2_500),
  nothing: "\u200b\u200b",
};

const LETTERS = /<text x="([\d.]+)"[^>]* font-size="([\d.]+)" font-weight="(\d+)"[^>]*>([^<]*)<\/text>/g;
const plain = (text: string) =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

test.for(Object.entries(HOSTILE))("a name with %s is text within the picture", async ([, name]) => {
  const facts = { ...FACTS, symbol: name, name, sentence: `${name} ${name}` };
  const svg = sharePicture(facts, FONTS).replaceAll("\n", "");
  expect(svg).not.toMatch(/<(image|script|!)|<[^>]*href|[\p{Cc}\p{Cf}\p{Cs}]/u);
  expect(svg.length).toBeLessThan(10_000);
  const texts = [...svg.matchAll(LETTERS)].filter(([whole]) => !whole.includes('"end"'));
  expect(texts.length).toBeGreaterThan(4);
  for (const [, x, size, weight, letters = ""] of texts) {
    const font = weight === "700" ? FONTS.bold : FONTS.regular;
    const width = font.widthOf(plain(letters), Number(size));
    expect(Number(x) + width).toBeLessThanOrEqual(PICTURE_WIDTH - 50);
  }
});

test("a picture names the pair, omits a peak below the start, and shows no gain if hardly anyone sold", () => {
  const why = { ...SAMPLE_EXPLANATION, finish_cause: "canary" as const, warnings: ["no-seller"] };
  const outcome = { ...SAMPLE_OUTCOME, peak_change: 0, end_change: 43, ended_by: "canary" } as const;
  const record = { flare: SAMPLE_EXCHANGE_FLARE, started: null, why, cause: "canary", outcome } as const;
  const { symbol, figures } = flarePicture(record, [], undefined);
  expect(symbol).toBe("BTC/USDT · binance");
  expect(figures.slice(0, 2)).toEqual([
    { name: "Peak", value: "–", look: "plain" },
    { name: "End", value: "+43.0 %", look: "plain" },
  ]);
  const sold = { ...record, why: { ...why, warnings: [] }, outcome: { ...outcome, peak_change: 50 } };
  expect(flarePicture(sold, [], undefined).figures[0]).toEqual({
    name: "Peak",
    value: "+50.0 %",
    look: "up",
  });
});

test("the longest sentence is shown whole, with its warning at the end", () => {
  const sentence =
    "1000+ times the usual buyers, buys outweigh sells at least 20:1, price 1000+ % above normal, 1000+ times the usual volume; under $100 liquidity is thin; warning: liquidity removed and 2 more.";
  const texts = [
    ...sharePicture({ ...FACTS, sentence }, FONTS)
      .replaceAll("\n", "")
      .matchAll(LETTERS),
  ];
  const rows = texts.map(([, , , , letters = ""]) => letters);
  expect(rows.join(" ")).toContain(sentence);
});

test("a character that the font lacks is drawn as a box, so that no name can look like another", () => {
  const svg = sharePicture({ ...FACTS, symbol: "USDกT", name: "e\u0301👨‍👩‍👧‍👦" }, FONTS);
  expect(svg).toContain(">USD□T<");
  expect(svg).toContain(">é□<");
});

test("Chinese names are drawn with their characters, not with boxes", async () => {
  expect(sharePicture({ ...FACTS, symbol: "币安人生", name: "馬到成功" }, FONTS)).toMatch(
    />币安人生<.*>馬到成功</s,
  );
  const pictures = new Pictures();
  try {
    const drawn = [];
    // Without their glyphs, both names would be the same blanks or boxes.
    for (const symbol of ["币安", "人生", "\u25a1\u25a1", "  "])
      drawn.push((await pictures.draw(symbol, { ...FACTS, symbol })).toString("base64"));
    expect(new Set(drawn).size).toBe(4);
  } finally {
    await pictures.close();
  }
});

test("a change that is shown as ±0.0 % has no direction", () => {
  expect([0.05, 0.04, 0, -0.04, -0.06].map(lookOf)).toEqual(["up", "plain", "plain", "plain", "down"]);
});

test("a name of two alphabets is marked", () => {
  const path = "M20 2 38 36H2Z";
  expect(sharePicture({ ...FACTS, symbol: "USDТ", isMixed: true }, FONTS)).toContain(path);
  expect(sharePicture(FACTS, FONTS)).not.toContain(path);
});

test("pictures are PNGs of one size, drawn once and cached within a limit of bytes", async () => {
  const pictures = new Pictures({ maxBytes: 60_000 });
  try {
    const facts = (symbol: string) => ({ ...FACTS, symbol });
    const [first, same] = await Promise.all([pictures.draw("a", facts("A")), pictures.draw("a", facts("A"))]);
    expect(same).toBe(first);
    expect(first.subarray(1, 4).toString()).toBe("PNG");
    expect([first.readUInt32BE(16), first.readUInt32BE(20)]).toEqual([PICTURE_WIDTH, PICTURE_HEIGHT]);
    expect(pictures.bytes).toBeGreaterThan(first.length);
    expect(await pictures.draw("a", facts("A"))).toBe(first);
    for (const symbol of ["B", "C", "D"]) await pictures.draw(symbol, facts(symbol));
    expect(pictures.bytes).toBeLessThanOrEqual(60_000);
    expect(await pictures.draw("a", facts("A"))).toEqual(first);
  } finally {
    await pictures.close();
  }
});

test("beyond the limit of pictures at a time, a new one is refused, but a request for a pending one is not", async () => {
  const pictures = new Pictures({ maxWaiting: 2 });
  try {
    const drawn = [pictures.draw("a", FACTS), pictures.draw("b", { ...FACTS, symbol: "B" })];
    await expect(pictures.draw("c", FACTS)).rejects.toMatchObject({
      code: "over-capacity",
      bound: "2 pictures at a time",
    });
    drawn.push(pictures.draw("b", FACTS));
    const [, second, third] = await Promise.all(drawn);
    expect(third).toBe(second);
    expect((await pictures.draw("c", FACTS)).length).toBeGreaterThan(1_000);
  } finally {
    await pictures.close();
  }
});

test("a picture that cannot be drawn fails alone, and waiting pictures fail when the server closes", async () => {
  const pictures = new Pictures();
  const broken = { ...FACTS, figures: [{ name: "x", value: "x", look: "up" as const }], spans: [] };
  Object.assign(broken, { candles: null });
  const [bad, good] = await Promise.allSettled([pictures.draw("a", broken), pictures.draw("b", FACTS)]);
  expect([bad.status, good.status]).toEqual(["rejected", "fulfilled"]);
  const waiting = pictures.draw("c", FACTS);
  const refused = expect(waiting).rejects.toMatchObject({ code: "not-ready" });
  await pictures.close();
  await refused;
});
