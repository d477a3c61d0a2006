import type { Logger } from "pino";
import type { Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { SettingsOf, SettingTable } from "../../base/settings/index.ts";
import type { SharedState } from "../http/index.ts";
import type { Persistence } from "../persistence/persistence.ts";
import type { RestoredState } from "../persistence/restored-state.ts";
import type { GatewaySettings } from "../settings/index.ts";
import type { OpenFollower, OpenSnapshots } from "../source/index.ts";
import type { OpenCopy, SharedTasks } from "./shared-task.ts";

/**
 * A log shared by several gateways. Only one of them runs the source at a time. It is one value in
 * the program's list, and its settings turn it on.
 */
export interface SharedLog<S extends SettingTable = SettingTable> {
  /** Name of the setting that turns it on. */
  readonly name: string;
  readonly settings: S;
  isOn(settings: SettingsOf<S>): boolean;
  /**
   * Joins the gateways that share it. Rejects if the servers refuse this one, and when the signal
   * aborts before they answer.
   */
  join(settings: SettingsOf<S> & GatewaySettings, joining: Joining): Promise<JoinedLog>;
  /** Returns the tests of its servers, for `flarewire doctor`. */
  checks(settings: SettingsOf<S>, password: string | undefined, clock: Clock): Promise<readonly Probe[]>;
}

/** What a gateway brings when it joins. */
export interface Joining {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly market: MarketOpener;
  /** Password of the servers. Default: none. */
  readonly password?: string | undefined;
  /** Opens a copy of the state of the leader's task. Default: there is no task. */
  readonly openCopy?: OpenCopy | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The market, and how the gateway that leads opens it. */
export interface MarketOpener {
  /** Identifies the market and its settings: stored state is reused only if it is equal. */
  readonly fingerprint: string;
  /** The settings that decide its events: nodes with others must not share a log. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether resuming needs a stored state of the engine. */
  readonly needsEngine: boolean;
  /** Opens the market, resuming from the state if there is one. */
  open(restored: RestoredState | undefined): OpenSnapshots;
}

/** This gateway's part in the shared log. */
export interface JoinedLog {
  readonly persistence: Persistence;
  readonly state: SharedState;
  readonly tasks: SharedTasks;
  readonly opened: OpenFollower;
}
