import { shortAddress } from "../../../base/model/token-key.ts";
import { asRecord, type Fields, type SymbolIndex } from "./symbol-index.ts";

/**
 * Formats a `candles-closed` event by the opening times of its candles:
 * `08:20 ABC, DEF; 07:21 to 08:20 GHI; out JKL`.
 */
export function candlesText({ tokens, gone }: Fields, symbols: SymbolIndex): string {
  const names = new Map<string, string[]>();
  for (const token of list(tokens).map(asRecord)) {
    const minutes = minutesOf(token?.candles);
    const same = names.get(minutes) ?? [];
    same.push(nameOf(token?.address, symbols));
    names.set(minutes, same);
  }
  const closed = [...names].map(([minutes, same]) => `${minutes} ${same.join(", ")}`);
  const left = list(gone).map((address) => nameOf(address, symbols));
  const parts = [...closed, ...(left.length > 0 ? [`out ${left.join(", ")}`] : [])];
  return parts.join("; ") || "no candles";
}

/** Returns the addresses of a `candles-closed` event whose symbols are unknown. */
export function unknownTokens({ tokens, gone }: Fields, symbols: SymbolIndex): readonly string[] {
  const addresses = [...list(tokens).map((token) => asRecord(token)?.address), ...list(gone)];
  return addresses.flatMap((address) =>
    typeof address === "string" && symbols.of(address) === undefined ? [address] : [],
  );
}

function minutesOf(candles: unknown): string {
  const opened = list(candles).map((candle) => timeOfDay(asRecord(candle)?.open_at));
  const [first, last] = [opened.at(0), opened.at(-1)];
  if (first === undefined) return "no candles of";
  return opened.length === 1 ? first : `${first} to ${last}`;
}

function timeOfDay(time: unknown): string {
  return typeof time === "string" ? time.slice(11, 16) : "?";
}

/** Returns a token's symbol, or else its address, cut as in most wallets. */
function nameOf(address: unknown, symbols: SymbolIndex): string {
  if (typeof address !== "string") return "?";
  return symbols.of(address) ?? shortAddress(address);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
