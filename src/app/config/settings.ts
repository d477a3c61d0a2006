import { z } from "zod";
import { HOUR_MS, SECOND_MS } from "../../base/lib/time/time.ts";
import {
  duration,
  existingFile,
  isServiceUrl,
  type Kind,
  type SettingsOf,
  type SettingTable,
  setting,
  text,
  withoutSlash,
} from "../../base/settings/index.ts";
import type { FeedKind } from "../../feeds/index.ts";
import {
  ACCESS_SETTINGS,
  ADDRESS_SETTINGS,
  DATA_SETTINGS,
  LIMIT_SETTINGS,
  PROCESS_SETTINGS,
  WEB_SETTINGS,
} from "../../gateway/settings/index.ts";
import { EXTENSIONS } from "../extensions.ts";
import { FEED_SETTINGS, FEEDS, MARKET_SETTINGS } from "../feeds.ts";
import { type ListedSharedLog, SHARED_LOGS } from "../shared-logs.ts";
import { mergeTables } from "./merge-tables.ts";

/** Prefix of the address of a gateway to follow. */
export const FOLLOW = "follow:";

/** `engine`, or a service's URL without trailing slash. {@link FOLLOW} marks a leader. */
const sourceName: Kind<string> = {
  schema: z.union([
    z.literal("engine"),
    text(2_048, (url) => isServiceUrl(url) || isLeader(url)).transform(withoutSlash),
  ]),
  bound: "engine, an http:// or https:// URL without user, query or fragment, or follow: with such a URL",
  url: true,
};

function isLeader(text: string): boolean {
  return text.startsWith(FOLLOW) && isServiceUrl(text.slice(FOLLOW.length));
}

/** All settings, in order. The source of flags, variables, help and SETTINGS.md. */
export const SETTINGS = {
  ...ADDRESS_SETTINGS,
  source: setting("source", sourceName, {
    default: "engine",
    example: "https://flares.example.org",
    description:
      "Source of the data: engine (the embedded trend engine), the URL of a service with this API to poll, or follow:URL to mirror another Flarewire server",
  }),
  ...MARKET_SETTINGS,
  ...FEED_SETTINGS,
  refresh: setting("refreshMs", duration(SECOND_MS, HOUR_MS), {
    default: "5s",
    example: "10s",
    description:
      "Interval of event time at which prices, counts and liquidity of listed tokens are refreshed",
  }),
  ...DATA_SETTINGS,
  ...LIMIT_SETTINGS,
  ...ACCESS_SETTINGS,
  ...mergeTables<(typeof EXTENSIONS)[number]>(EXTENSIONS),
  ...WEB_SETTINGS,
  ...mergeTables<ListedSharedLog>(SHARED_LOGS),
  ...PROCESS_SETTINGS,
  config: setting("config", existingFile, {
    default: undefined,
    example: "flarewire.json",
    description: "JSON file of settings by name; never read unless named here",
  }),
} as const satisfies SettingTable;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** All settings, frozen. Only `app/` sees them; each part gets its own. */
export type Config = SettingsOf<typeof SETTINGS>;

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

/**
 * Returns the settings of feeds that a command takes besides `serve`. If a kind has parts, these
 * are only the settings of its parts.
 */
export function feedFlags(isTaken: (kind: FeedKind) => boolean): readonly SettingName[] {
  return FEEDS.filter(isTaken)
    .flatMap(({ settings, parts }) => parts?.flatMap((part) => part.settings) ?? Object.keys(settings))
    .filter(isSettingName);
}
