/**
 * The tables of part 2 of the interface specification, copied verbatim: each heading with its
 * rows. A row's cells are the field, its type and, in some tables, a note.
 */
export const SPEC_TABLES = {
  "2.1 Flare (used by flares; an object with the same shape is nested in charts and leaderboards)": [
    ["id", "string (UUID)", "Present in flares responses; also in the nested form."],
    ["started_trending_at", "timestamp", "flares responses only."],
    [
      "finished_trending_at",
      "timestamp or null",
      "flares responses only. Null while the token is still trending.",
    ],
    ["recent_price_change", "number (integer in the samples; may be negative)", ""],
    ["previous_price_change", "number (integer in the samples; may be negative)", ""],
    ["latest_buy_count", "integer", ""],
    ["latest_sell_count", "integer", ""],
    ["forum_post", "object or null", "See 2.2."],
    ["upvote_site_data", "object or null", "Only null is seen; present in nested form only."],
    ["social_data", "object or null", "See 2.3."],
    ["contract_source", "object", "See 2.4."],
    ["liquidity", "string (decimal)", ""],
    ["market_data", "object or null", "See 2.5."],
    ["token", "object", "See 2.6."],
    ["relevant", "boolean", "Nested form only (inside charts and leaderboards)."],
    ["last_relevant_at", "timestamp", "Nested form only."],
    ["last_irrelevant_at", "timestamp", "Nested form only."],
    ["canary", "boolean", "Nested form only."],
    ["canary_at", "timestamp", "Nested form only."],
  ],
  "2.2 forum_post (when not null)": [
    ["position", "integer"],
    ["address", "string (token address)"],
    ["url", "string (URL)"],
    ["title", "string"],
    ["upvotes", "integer"],
    ["posted", "timestamp"],
  ],
  "2.3 social_data (when not null)": [
    ["chat_url", "string (URL) or null"],
    ["microblog_url", "string (URL) or null"],
    ["website_url", "string (URL) or null"],
  ],
  "2.4 contract_source": [
    ["status", "string", "0, 1"],
    ["message", "string", "OK (with status 1), NOTOK (with status 0)"],
  ],
  "2.5 market_data (when not null)": [
    ["market_id", "string"],
    ["image_url", "string (URL) or null"],
    ["name", "string or null"],
  ],
  "2.6 token": [
    ["name", "string", "Absent in exchange-group chart items."],
    ["symbol", "string", ""],
    [
      "address",
      "string (hexadecimal token address)",
      "Present in flares, bsc and matic items; absent in exchange-group chart items.",
    ],
    ["price", "string (decimal)", ""],
    ["created_at", "timestamp", "Absent in matic and exchange-group chart items."],
  ],
  "2.7 Flares response (object)": [
    ["free", "array of Flare"],
    ["pro", "array of Flare"],
    ["finished_trending", "array of Flare"],
  ],
  "2.8 Chart item, group bsc": [
    ["id", "string (UUID)"],
    ["most_recent_price_average", "string (decimal)"],
    ["latest_candle_prices", "array of numbers (floating point, may be negative; lengths differ per group)"],
    ["buy_count", "integer"],
    ["sell_count", "integer"],
    ["most_recent_price", "string (decimal)"],
    ["price_change_from_average", "number"],
    ["streak", "integer"],
    [
      "flare",
      "Flare (nested form, with relevant, last_relevant_at, last_irrelevant_at, canary, canary_at, upvote_site_data; without started_trending_at and finished_trending_at)",
    ],
  ],
  "2.9 Chart item, group exchange": [
    ["id", "string (UUID)"],
    ["most_recent_price_average", "string (decimal)"],
    ["latest_candle_prices", "array of numbers"],
    ["price_change_from_average", "number"],
    ["streak", "integer"],
    ["token", "object with symbol (string) and price (string decimal) only"],
    ["market_data", "object or null"],
  ],
  "2.10 Chart item, group matic": [
    ["id", "string (UUID)"],
    ["most_recent_price_average", "string (decimal)"],
    ["recent_average_price", "string (decimal)"],
    ["most_recent_price", "string (decimal)"],
    ["price_change_from_average", "number"],
    ["streak", "integer"],
    ["token", "object with symbol, price (string decimal) and address"],
    ["latest_candle_prices", "array of numbers"],
    ["market_data", "object or null"],
  ],
  "2.11 Charts response (object)": [
    ["bsc", "array of chart item (2.8)"],
    ["exchange", "array of chart item (2.9)"],
    ["matic", "array of chart item (2.10)"],
  ],
  "2.12 Leaderboard entry (group bsc)": [
    ["type", "string"],
    ["time_trended", "integer"],
    ["average_position", "number (floating point)"],
    ["object", "Flare (nested form, 2.1, without started_trending_at and finished_trending_at)"],
  ],
  "2.13 Leaderboards response (object)": [
    ["bsc", "array of leaderboard entry"],
    ["exchange", "array"],
    ["matic", "array"],
    ["avalanche", "array"],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly string[])[]>>;

export type SpecTable = keyof typeof SPEC_TABLES;

/** Parses the specification's tables: headings of the form `### 2.n …`, each with its table. */
export function readSpecTables(markdown: string): Record<string, string[][]> {
  const tables: Record<string, string[][]> = {};
  for (const section of markdown.split(/^### /m).slice(1)) {
    const [heading = "", ...lines] = section.split("\n");
    const rows = lines.filter((line) => line.startsWith("|")).slice(2);
    if (!/^2\.\d+ /.test(heading) || rows.length === 0) continue;
    tables[heading] = rows.map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  }
  return tables;
}
