import type { FastifyInstance } from "fastify";
import { type Config, oneProcess } from "../config/config.ts";
import { addHostRoutes } from "../http/index.ts";
import { type Gateway, type GatewayParts, startGatewayWithFrontend } from "./app.ts";
import type { OpenFront } from "./frontend.ts";

/** A running gateway inside somebody else's server, whose address only the host knows. */
export type EmbeddedGateway = Omit<Gateway, "url">;

/** What {@link createGatewayPlugin} makes. */
export interface GatewayPlugin {
  /** `await host.register(plugin, { prefix: "/flarewire" })`, once. Rejects, and with it the host's start, as startGateway does. */
  readonly plugin: (scope: FastifyInstance) => Promise<void>;
  /** Resolves, once the host is ready, as startGateway does; rejects when the host closes before. Stopped by the host's `close()`. */
  readonly gateway: Promise<EmbeddedGateway>;
}

/** What of the host's limit on a plugin's hook the drain may take: at the limit Fastify would go on without it. */
const SHARE_OF_HOOK = 0.9;

/**
 * Flarewire inside a program's own Fastify 5 server: REST, WebSocket, server-sent events, long poll, health and metrics below the prefix with which it is
 * registered, and below the config's `basePath` in addition. Polling begins when the host is ready. `host.close()` sends the clients away over the drain time, but
 * within 9/10 of the host's `pluginTimeout` (10 s by default, so 9 s), and ends what is the gateway's.
 *
 * The error handler, the hooks and the answers to unknown addresses are those of the prefix; nothing of the host's changes. The host's own hooks go before, so
 * let none that compresses or rewrites answers reach the prefix. What only a server of one's own can do is the host's: its address (`host` and `port` have no effect), what it answers
 * to bytes that are no HTTP, its time limits on requests and connections, its `trustProxy` (by which clients are told apart), and 503 in its words while it
 * closes. A host with @fastify/websocket of its own cannot have it: the plugin is refused below it; use startGateway and another port.
 */
export function createGatewayPlugin(config: Config, parts: GatewayParts = {}): GatewayPlugin {
  oneProcess(config);
  let resolve: (gateway: Promise<EmbeddedGateway>) => void = () => {};
  const gateway = new Promise<EmbeddedGateway>((settle) => {
    resolve = settle;
  });
  // Whoever registers the plugin is told as well.
  gateway.catch(() => {});
  let isRegistered = false;
  const plugin = async (scope: FastifyInstance) => {
    if (isRegistered)
      throw new Error("this plugin is registered already; make another one for another place");
    isRegistered = true;
    const host = new Host(scope);
    const { signal } = parts;
    const started = startGatewayWithFrontend(() => host.open, withinHook(config, scope), {
      ...parts,
      signal: signal ? AbortSignal.any([signal, host.closing]) : host.closing,
    });
    host.gateway = started;
    resolve(started);
    await Promise.race([host.opened, started]);
  };
  return { plugin, gateway };
}

function withinHook(config: Config, { initialConfig }: FastifyInstance): Config {
  const limitMs = initialConfig.pluginTimeout ?? 0;
  return limitMs === 0 ? config : { ...config, drainMs: Math.min(config.drainMs, limitMs * SHARE_OF_HOOK) };
}

/** The host's life, as the gateway waits for it. */
class Host {
  readonly #scope: FastifyInstance;
  readonly #opened = new AbortController();
  readonly #ready = new AbortController();
  readonly #closing = new AbortController();
  readonly #drained = new AbortController();
  readonly #closed = new AbortController();
  /** What is stopped when the host closes. */
  gateway: Promise<EmbeddedGateway> | undefined;

  constructor(scope: FastifyInstance) {
    this.#scope = scope;
    scope.addHook("onReady", async () => this.#ready.abort());
    // The first for the connections that would keep the server from closing, the second for what may be needed until it has.
    scope.addHook("preClose", async () => {
      this.#closing.abort();
      const stopped = this.#stop();
      await Promise.race([happened(this.#drained.signal), stopped]);
    });
    scope.addHook("onClose", async () => {
      this.#closed.abort();
      await this.#stop();
    });
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Resolves when the routes are there. */
  get opened(): Promise<void> {
    return happened(this.#opened.signal);
  }

  readonly open: OpenFront = async (options) => {
    await addHostRoutes(this.#scope, options);
    this.#opened.abort();
    return {
      listen: async () => {
        await Promise.race([happened(this.#ready.signal), happened(this.closing)]);
        if (!this.#ready.signal.aborted) throw new Error("the host closed before it was ready");
        return "";
      },
      // The host's connections are the host's.
      retire: () => {},
      close: async () => {
        this.#drained.abort();
        // Stopped by itself, the gateway leaves the host as it is.
        if (this.closing.aborted) await happened(this.#closed.signal);
      },
    };
  };

  async #stop(): Promise<void> {
    // One that never ran has nothing to stop, and has told why.
    const gateway = await this.gateway?.catch(() => undefined);
    await gateway?.stop();
  }
}

/** Resolves when it has. */
function happened(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
