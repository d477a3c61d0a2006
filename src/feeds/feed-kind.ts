import type { Logger } from "pino";
import type { Probe } from "../base/lib/probe.ts";
import type { Clock } from "../base/lib/time/clock.ts";
import type { MarketGroup } from "../base/market/index.ts";
import type { Snapshot } from "../base/model/index.ts";
import type { SettingsOf, SettingTable } from "../base/settings/index.ts";
import type { Metrics } from "../gateway/metrics/index.ts";
import type { Feed, ServiceKeys, SnapshotSource } from "../gateway/source/index.ts";
import type { HeadLag } from "./head-lag.ts";
import type { MarketSettings } from "./market-settings.ts";

/**
 * Where data come from, with everything that the program needs to know about it. A kind plays one
 * role or more. It is registered in `app/feeds.ts`, which is all that names it.
 */
export interface FeedKind<T extends SettingTable = SettingTable> {
  readonly name: string;
  /** Its own slice of the settings. */
  readonly settings: T;
  /** Its services that need or accept a key. */
  readonly keys?: ServiceKeyTable;
  /** A whole market, which the setting `feed` can name. */
  readonly market?: Market<T>;
  /** What it contributes to a market that combines several. */
  readonly parts?: readonly Part<T>[];
  /** What it does to the events of any market. */
  readonly layer?: Layer<T>;
  /** A service that is polled instead of a market. */
  readonly polled?: Polled<T>;
}

/** Keys of services are variables, not settings. */
interface ServiceKeyTable {
  /** The last line of `serve --help`. */
  readonly help: string;
  /** By service. */
  readonly variables: Readonly<Record<string, { readonly variable: string; readonly owner: string }>>;
}

type Given<T extends SettingTable> = SettingsOf<T> & MarketSettings;

export interface FeedContext {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Directory for what outlives the process; `undefined`: memory only. */
  readonly directory: string | undefined;
  /** Age in milliseconds from which data are stale. */
  readonly staleAfterMs: number;
  /** Where parts of a live market report their time. Default: nothing measures it. */
  readonly lag?: HeadLag | undefined;
}

/** How far an earlier process got. */
export interface StoredMarket {
  /** Event time of the published state. */
  readonly observedAtMs: number;
  /** Event time of the last `clock` event that the engine processed. */
  readonly afterMs: number;
  /** Event time at which a simulated market began. */
  readonly beganAtMs: number | undefined;
}

export interface ResumedMarket extends StoredMarket {
  /** Event time that the market must reach to have caught up. */
  readonly presentAtMs: number;
}

export interface OpenMarket {
  readonly feed: Feed;
  /** To be stored: see {@link StoredMarket.beganAtMs}. */
  readonly beganAtMs?: number;
}

/** A market that feeds the engine. */
export interface Market<T extends SettingTable = SettingTable> {
  /** In a sentence: `a recorded market`. */
  readonly title: string;
  /** What it is, in the description of the setting `feed`. Default: its name says it. */
  readonly about?: string;
  /** Names of the settings that affect it. Omits the settings of every market. */
  readonly settings: readonly string[];
  /** If this setting is given, this market is the default. */
  readonly impliedBy?: string;
  /** Whether it runs in real time, so that no speed can be set. */
  readonly isRealTime: boolean;
  /** Whether it starts at the present, and reads the warm-up meanwhile. */
  readonly startsAtPresent: boolean;
  /** Defaults that replace the tables' defaults, as the user would write them. */
  defaults(isGiven: (name: string) => boolean): Readonly<Record<string, string>>;
  /** Its settings that have no effect with the others. Omits the settings of other markets. */
  idle?(settings: Given<T>): readonly IdleSettings[];
  /** Why these settings cannot be used together, although each is valid. */
  problem?(settings: Given<T>): string | undefined;
  /** What it serves, in the first line that `serve` prints. */
  describe(settings: Given<T>): string;
  /** Opens it. Without `resume`, starts from the beginning. */
  open(settings: Given<T>, context: FeedContext, resume: ResumedMarket | undefined): OpenMarket;
  /** Returns the present, or why an earlier process's market cannot resume, as half a sentence. */
  resume(
    settings: Given<T>,
    stored: StoredMarket,
    nowMs: number,
  ): { readonly presentAtMs: number } | { readonly problem: string };
  /** What else than its name distinguishes its files from another market's. */
  identity(settings: Given<T>): string;
  /** What a stored state depends on, to be compared as JSON. */
  fingerprint(settings: Given<T> & { readonly refreshMs: number }): Readonly<Record<string, unknown>>;
  /** Groups of tokens with addresses that it follows; empty if it may have any. */
  groups(settings: Given<T>): readonly MarketGroup[];
  /** Tests of the services that it uses. */
  checks?(settings: Given<T>, clock: Clock): readonly Probe[];
}

/** Settings without effect, and why, as the second half of a sentence. */
export interface IdleSettings {
  readonly names: readonly string[];
  readonly reason: string;
}

interface PartContext extends FeedContext {
  /** Event time after which it resumes; `undefined` if it starts from the beginning. */
  readonly afterMs: number | undefined;
  /** The groups that the other parts follow. */
  readonly otherGroups: ReadonlySet<MarketGroup>;
}

/** A part of a market that combines several. */
export interface Part<T extends SettingTable = SettingTable> {
  readonly name: string;
  /** Names of the settings that have an effect on it. */
  readonly settings: readonly string[];
  /** Groups of tokens with addresses that it follows. */
  groups(settings: Given<T>): readonly MarketGroup[];
  /** Whether it is followed only if named. */
  readonly isOptional?: boolean;
  /** Whose markets it follows, for {@link Market.describe}. */
  describe(settings: Given<T>): string;
  open(settings: Given<T>, context: PartContext): Feed;
  /** As in {@link Market}. */
  problem?(settings: Given<T>): string | undefined;
  /** Why it cannot resume, as half a sentence; `undefined` if it can. */
  gap?(afterMs: number, nowMs: number): string | undefined;
  /** What the stored state of a market depends on that may have this part. */
  fingerprint?(settings: Given<T>): Readonly<Record<string, unknown>>;
  checks(settings: Given<T>, clock: Clock): readonly Probe[];
}

export interface LayerContext extends FeedContext {
  readonly keys: ServiceKeys;
}

interface OpenLayer {
  readonly feed: Feed;
  /** Starts what it writes. Called once everything else is open. Throws if it cannot. */
  readonly begin?: () => void;
  readonly close?: () => Promise<void>;
}

/** Adds to the events of any market, or uses them. */
export interface Layer<T extends SettingTable = SettingTable> {
  /** Returns the feed with this layer; unchanged if the settings do not ask for it. */
  open(feed: Feed, settings: Given<T>, context: LayerContext): OpenLayer;
  /** See {@link Market.fingerprint}. */
  fingerprint?(settings: Given<T>): Readonly<Record<string, unknown>>;
  idle(settings: Given<T>): readonly IdleSettings[];
  checks?(
    settings: Given<T>,
    context: {
      readonly clock: Clock;
      readonly keys: ServiceKeys;
      /** See {@link Market.groups}. */
      readonly groups: readonly MarketGroup[];
    },
  ): readonly Probe[];
}

interface PolledContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly staleAfterMs: number;
  /** The state that an earlier process published last. */
  readonly resume: Snapshot | undefined;
  /** Returns the id of a token's nested flare before its first flare. */
  readonly neverFlaredId: (group: MarketGroup, token: string) => string;
}

/** A service with this program's API. */
interface Polled<T extends SettingTable = SettingTable> {
  open(url: string, settings: SettingsOf<T>, context: PolledContext): OpenPolled;
  problem(settings: SettingsOf<T> & { readonly staleAfterMs: number }): string | undefined;
}

export interface OpenPolled {
  readonly source: SnapshotSource;
  readonly metrics: Metrics;
}
