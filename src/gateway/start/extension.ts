import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { Freshness, SourceInfo } from "../../base/protocol/index.ts";
import type { SettingsOf, SettingTable } from "../../base/settings/index.ts";
import type { AccessPolicy, ConnectionLimiter, PastStates, RouteScope, SocketRoute } from "../http/index.ts";
import type { Head, Hub } from "../hub/index.ts";
import type { EventLog } from "../log/index.ts";
import type { Metrics } from "../metrics/metric-table.ts";
import type { OpenStore } from "../persistence/persistence.ts";
import type { GatewaySettings } from "../settings/index.ts";
import type { OpenCopy, SharedTasks } from "./shared-task.ts";

/**
 * A feature that a gateway can do without: one value in the program's list of extensions. The
 * gateway opens the listed extensions in order and closes them in reverse.
 */
export interface Extension<S extends SettingTable = SettingTable, P = unknown> {
  /** Unique name, for errors and {@link ExtensionContext.of}. */
  readonly name: string;
  /** The settings that it declares. They become flags, variables and keys of the settings file. */
  readonly settings: S;
  /**
   * Rejects if what its settings name is unusable, such as a file. Called before the gateway begins
   * its log. Default: {@link open} finds out.
   */
  check?(settings: SettingsOf<S> & GatewaySettings): Promise<void>;
  /**
   * Opens it: once per gateway, before the gateway listens. Rejects if a setting is unusable, which
   * fails the start. `undefined`: the settings turn it off.
   */
  open(
    context: ExtensionContext<SettingsOf<S>>,
  ): OpenExtension<P> | undefined | Promise<OpenExtension<P> | undefined>;
  /**
   * Opens a copy of the state that the nodes of a cluster share: see {@link SharedTasks}. One
   * extension may have it. Default: it shares none.
   */
  readonly openCopy?: OpenCopy | undefined;
  /** Returns the probes of what a file names, for `flarewire doctor --test-alerts`. */
  readonly checks?: ((file: string, clock: Clock) => Promise<readonly Probe[]>) | undefined;
}

/** All that an extension gets from the gateway. */
export interface ExtensionContext<S = object> {
  /** Its own settings and the gateway's. */
  readonly settings: S & GatewaySettings;
  readonly head: Head;
  readonly hub: Hub;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What the clients may see and do. */
  readonly policy: AccessPolicy;
  readonly limiter: Pick<ConnectionLimiter, "useOf">;
  readonly info: () => SourceInfo;
  readonly freshness: () => Freshness;
  /** Opens a store: a file of the data directory, or memory if there is none. */
  readonly openStore: OpenStore;
  /** The work that only one node of a cluster does. Absent outside of a cluster. */
  readonly tasks: SharedTasks | undefined;
  /** Returns what an extension earlier in the list provides; `undefined` if it is off. */
  of<P>(other: Extension<SettingTable, P>): P | undefined;
}

/** What an extension adds to the gateway. Every member is optional. */
export interface OpenExtension<P = unknown> {
  /** For other extensions: see {@link ExtensionContext.of}. */
  readonly provides?: P | undefined;
  /** Adds routes below the base path. */
  readonly routes?: ((scope: RouteScope) => void | Promise<void>) | undefined;
  /** WebSockets, which share the gateway's limits of connections. */
  readonly sockets?: readonly SocketRoute[] | undefined;
  /** Past states, for the parameter `at` of the gateway's resources. */
  readonly past?: PastStates | undefined;
  /** Answers a request for an unknown path, or returns false: then the gateway responds. */
  readonly answerUnknown?:
    | ((request: FastifyRequest, reply: FastifyReply, basePath: string) => boolean)
    | undefined;
  /** Read at each scrape. */
  readonly metrics?: Metrics | undefined;
  /** Public description of what is wrong, for `/readyz` and heartbeats; `undefined`: nothing. */
  readonly trouble?: (() => string | undefined) | undefined;
  /** Starts its work, when the first snapshot is served. */
  readonly start?: ((signal: AbortSignal) => void) | undefined;
  /** Finishes its work, when no more events come. Clients are still connected. */
  readonly finish?: (() => Promise<void>) | undefined;
  /** Closes what it opened, when the server is closed. Called even if it was not started. */
  readonly close?: (() => void | Promise<void>) | undefined;
}

/** Declares an extension, and infers its settings and what it provides. */
export function extension<const S extends SettingTable, P>(declared: Extension<S, P>): Extension<S, P> {
  return declared;
}
