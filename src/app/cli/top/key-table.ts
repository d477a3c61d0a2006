import { isExpired, type Key } from "../../../gateway/keys/index.ts";
import { alignColumns } from "../terminal/columns.ts";
import { plainText } from "../terminal/plain-text.ts";

const HEAD = [
  "id",
  "plan",
  "connections",
  "requests/min",
  "made",
  "used",
  "ends",
  "channels",
  "name",
] as const;

/** Formats the keys as a table without secrets. */
export function keyTable(
  keys: readonly Key[],
  uses: Readonly<Record<string, string>>,
  nowMs: number,
): readonly string[] {
  if (keys.length === 0) return ["no keys"];
  return alignColumns([HEAD, ...keys.map((key) => cells(key, uses[key.id], nowMs))]);
}

function cells(key: Key, used: string | undefined, nowMs: number): readonly string[] {
  const { id, plan, connections, requests_per_minute, created_at, expires_at, channels, name } = key;
  const ends = expires_at === undefined ? "never" : day(expires_at);
  return [
    id,
    plan,
    String(connections ?? "-"),
    String(requests_per_minute ?? "-"),
    created_at === undefined ? "-" : day(created_at),
    used === undefined ? "-" : day(used),
    isExpired(key, nowMs) ? `ended ${ends}` : ends,
    channels?.join(",") ?? "-",
    plainText(name ?? "-"),
  ];
}

function day(timestamp: string): string {
  return new Date(timestamp).toISOString().slice(0, 16).replace("T", " ");
}
