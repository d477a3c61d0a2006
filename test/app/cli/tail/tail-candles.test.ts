import { expect, test } from "vitest";
import { eventLine, screenLines, type TailEvent } from "../../../../src/app/cli/tail/event-lines.ts";
import { SymbolIndex } from "../../../../src/app/cli/tail/symbol-index.ts";
import { columns } from "../../../../src/app/cli/terminal/plain-text.ts";
import { startInProcess } from "../run-in-process.ts";
import { greet, send, startScriptedServer } from "../scripted-server.ts";

const plain = (_style: string, text: string) => text;
const addressOf = (at: number) => `0x${String(at).padStart(40, "0")}`;
const opening = (...times: readonly string[]) =>
  times.map((time) => ({ open_at: `2017-11-12T${time}:00.000Z` }));

function closed(tokens: readonly object[], gone: readonly string[] = []): TailEvent {
  const data = { group: "bsc", closed_at: "2017-11-12T08:21:00.000Z", tokens, gone };
  return { name: "candles-closed", channel: "candles", observed_at: "2017-11-12T08:21:00.000Z", data };
}

function indexOf(names: Readonly<Record<number, string>>): SymbolIndex {
  const index = new SymbolIndex();
  const flares = Object.entries(names).map(([at, symbol]) => ({
    id: `id-${at}`,
    token: { symbol, address: addressOf(Number(at)) },
  }));
  index.learnSnapshot({ flares: { pro: flares } });
  return index;
}

test("closed candles are printed with their tokens by opening time, and with the tokens that left", () => {
  const symbols = indexOf({ 1: "CAKE", 2: "DOGE", 3: "NEW", 4: "OLD" });
  const event = closed(
    [
      { address: addressOf(1), candles: opening("08:20") },
      { address: addressOf(3), candles: opening("07:21", "08:00", "08:20") },
      { address: addressOf(2), candles: opening("08:20") },
      { address: addressOf(5), candles: [] },
    ],
    [addressOf(4)],
  );
  const text = "08:20 CAKE, DOGE; 07:21 to 08:20 NEW; no candles of 0x0000…0005; out OLD";
  expect(eventLine(event, symbols, plain)).toMatch(new RegExp(`candles-closed +candles +${text}$`));
  expect(screenLines(event, symbols, plain, 80)).toEqual([
    "08:21:00 candles            bsc         08:20 CAKE, DOGE; 07:21 to 08:20 NEW; no",
    "         candles of 0x0000…0005; out OLD",
  ]);
  expect(screenLines(closed([]), symbols, plain, 80)).toEqual([
    "08:21:00 candles            bsc         no candles",
  ]);
});

test("candles of 300 tokens fill five lines of 80 columns, and unreadable ones are printed with question marks", () => {
  const many = Array.from({ length: 300 }, (_, at) => ({
    address: addressOf(at),
    candles: opening("08:20"),
  }));
  const lines = screenLines(closed(many), new SymbolIndex(), plain, 80);
  expect(lines).toHaveLength(5);
  expect(lines.at(-1)).toMatch(/…$/);
  for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(80);
  const strange = {
    ...closed([]),
    data: { group: 1, tokens: ["x", { candles: [{ open_at: 1 }] }], gone: 7 },
  };
  expect(screenLines(strange, new SymbolIndex(), plain, 80)).toEqual([
    "08:21:00 candles            1           no candles of ?; ? ?",
  ]);
});

test("tail asks the server for the names of the tokens in candles, once for each new token", async () => {
  await using server = await startScriptedServer();
  const snapshotOf = (...names: readonly string[]) => ({
    flares: {
      pro: names.map((symbol, at) => ({ id: `id-${at}`, token: { symbol, address: addressOf(at) } })),
    },
  });
  await using tail = startInProcess(["tail", server.url, "--channels", "candles"]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset", channels: ["candles"], snapshot: {} });
  const sendClosed = (seq: number, ...addresses: readonly string[]) => {
    const tokens = addresses.map((address) => ({ address, from: "", candles: opening("08:20") }));
    send(socket, { type: "event", cursor: `abcd-${seq}`, seq, prev: seq - 1, ...closed(tokens) });
  };
  server.snapshot = snapshotOf("ONE");
  sendClosed(7, addressOf(0), addressOf(9));
  await tail.said("stdout", "08:20 ONE, 0x0000…0009\n");
  // A token without a name is not looked up again.
  server.snapshot = snapshotOf("ONE", "TWO", ...Array.from({ length: 8 }, () => "LATE"));
  sendClosed(8, addressOf(0), addressOf(9));
  await tail.said("stdout", /(08:20 ONE, 0x0000…0009\n.*){2}/);
  sendClosed(9, addressOf(1), addressOf(9));
  await tail.said("stdout", "08:20 TWO, LATE\n");
});
