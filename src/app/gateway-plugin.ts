import type { FastifyInstance } from "fastify";
import { whenAborted } from "../base/lib/time/until-aborted.ts";
import { addHostRoutes } from "../gateway/http/index.ts";
import type { Gateway, OpenFrontend } from "../gateway/start/index.ts";
import type { Config } from "./config/config.ts";
import { type GatewayOptions, startGatewayWithFrontend } from "./serve.ts";

/** A running gateway inside a host's server. Only the host knows its address. */
export type EmbeddedGateway = Omit<Gateway, "url">;

export interface GatewayPlugin {
  /** `await host.register(plugin, { prefix: "/flarewire" })`, once. Rejects like startGateway. */
  readonly plugin: (scope: FastifyInstance) => Promise<void>;
  /** Resolves once the host is ready, like startGateway. Rejects if the host closes first. */
  readonly gateway: Promise<EmbeddedGateway>;
}

/**
 * Maximum share of the host's plugin timeout for the drain. After the timeout, Fastify does not
 * wait.
 */
const SHARE_OF_HOOK = 0.9;

/**
 * Creates a Fastify 5 plugin that serves the gateway below the registration prefix plus `basePath`.
 * Polling begins when the host is ready. `host.close()` disconnects clients over the drain time,
 * within 9/10 of `pluginTimeout` (default 10 s), and closes the gateway.
 *
 * Its handlers and hooks apply below the prefix only. The host's hooks run first. They must not
 * rewrite responses below the prefix. The host decides address, timeouts, `trustProxy` and replies
 * to bytes that are not HTTP. A host with its own @fastify/websocket is rejected.
 */
export function createGatewayPlugin(config: Config, options: GatewayOptions = {}): GatewayPlugin {
  const { promise: gateway, resolve } = Promise.withResolvers<EmbeddedGateway>();
  // The code that registers the plugin receives the rejection too.
  gateway.catch(() => {});
  let isRegistered = false;
  const plugin = async (scope: FastifyInstance) => {
    if (isRegistered)
      throw new Error("this plugin is already registered; create another one for a second prefix");
    isRegistered = true;
    const host = new Host(scope);
    const { signal } = options;
    const started = startGatewayWithFrontend(host.open, withinHook(config, scope), {
      ...options,
      signal: signal ? AbortSignal.any([signal, host.closing]) : host.closing,
    });
    host.gateway = started;
    resolve(started);
    await Promise.race([host.opened.promise, started]);
  };
  return { plugin, gateway };
}

function withinHook(config: Config, { initialConfig }: FastifyInstance): Config {
  const limitMs = initialConfig.pluginTimeout ?? 0;
  return limitMs === 0 ? config : { ...config, drainMs: Math.min(config.drainMs, limitMs * SHARE_OF_HOOK) };
}

/** The steps in the host's lifecycle that the gateway waits for. */
class Host {
  readonly opened = Promise.withResolvers<void>();
  readonly #scope: FastifyInstance;
  readonly #ready = Promise.withResolvers<true>();
  readonly #closing = new AbortController();
  readonly #drained = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  /** The gateway to stop when the host closes. */
  gateway: Promise<EmbeddedGateway> | undefined;

  constructor(scope: FastifyInstance) {
    this.#scope = scope;
    scope.addHook("onReady", async () => this.#ready.resolve(true));
    // `preClose` ends connections that would keep the server open. `onClose` releases the rest when
    // the server has closed.
    scope.addHook("preClose", async () => {
      this.#closing.abort();
      await Promise.race([this.#drained.promise, this.#stop()]);
    });
    scope.addHook("onClose", async () => {
      this.#closed.resolve();
      await this.#stop();
    });
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  readonly open: OpenFrontend = async (options) => {
    await addHostRoutes(this.#scope, options);
    this.opened.resolve();
    return {
      listen: async () => {
        const isReady = await Promise.race([this.#ready.promise, whenAborted(this.closing)]);
        if (!isReady) throw new Error("the host closed before it was ready");
        return "";
      },
      // The host's connections belong to the host.
      retire: () => {},
      close: async () => {
        this.#drained.resolve();
        // A gateway that is stopped on its own leaves the host as it is.
        if (this.closing.aborted) await this.#closed.promise;
      },
    };
  };

  async #stop(): Promise<void> {
    // A gateway that never ran has already rejected and has nothing to stop.
    const gateway = await this.gateway?.catch(() => undefined);
    await gateway?.stop();
  }
}
