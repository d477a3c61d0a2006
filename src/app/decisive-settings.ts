import { formatDuration } from "../base/lib/text/quantity.ts";
import type { Setting } from "../base/settings/index.ts";
import { type Config, SETTINGS } from "./config/config.ts";
import { marketOf } from "./market.ts";

/** Settings of every market that decide what is published. */
const COMMON = ["feed", "speed", "refresh", "enrich"];

/**
 * Returns the settings that decide which events the source, or the given one of that name, makes:
 * by name, as text. Two nodes of a cluster must have the same. Addresses of services do not count,
 * because they serve the same market. A file counts by its content, and not at all if it cannot be
 * read: then the feed reports it.
 */
export function decisiveSettings(
  config: Config,
  given: string | undefined,
): Readonly<Record<string, string>> {
  if (given !== undefined || config.source !== "engine") return { source: given ?? config.source };
  const market = marketOf(config);
  const contents = market.fingerprint(config);
  const tables: Readonly<Record<string, Setting>> = SETTINGS;
  const values: Readonly<Record<string, unknown>> = config;
  const entries = [...COMMON, ...market.settings].flatMap((name): [string, string][] => {
    const { field = name, url } = tables[name] ?? {};
    if (url) return [];
    const value = values[field] === undefined ? "none" : (contents[name] ?? values[field]);
    const text = textOf(field, value);
    return text === "" ? [] : [[name, text]];
  });
  return { source: config.source, ...Object.fromEntries(entries) };
}

function textOf(field: string, value: unknown): string {
  if (typeof value === "number" && field.endsWith("Ms")) return formatDuration(value);
  if (Array.isArray(value)) return value.join(",");
  return value === Number.POSITIVE_INFINITY ? "max" : String(value);
}
