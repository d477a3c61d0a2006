import type { Logger } from "pino";
import type { HttpServerOptions, Refusals } from "../http/index.ts";

export interface Frontend {
  /** Starts listening. Resolves with the base URL, without the base path. */
  listen(): Promise<string>;
  /** Ends idle connections. Called when no new clients are wanted. */
  retire(): void;
  /** Closes the server. Called after the last client was disconnected. */
  close(): Promise<void>;
  /** Public description of what is wrong with serving; `undefined` if nothing is. */
  readonly trouble?: string | undefined;
}

export interface FrontendOptions extends HttpServerOptions {
  readonly refusals: Refusals;
  readonly logger: Logger;
  /** Lowers the limit of streams to what the system allows. */
  readonly limitStreams: (max: number) => void;
}

/** Opens what serves the gateway's clients. */
export type OpenFrontend = (options: FrontendOptions) => Promise<Frontend>;
