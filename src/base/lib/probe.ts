/** Tests one function of an external service that a live market needs. */
export interface Probe {
  /** The service: `binance`, `coingecko`. */
  readonly service: string;
  /** The subject: `markets`, `stream`. */
  readonly what: string;
  /**
   * The service's host, without a port: a name or an address. `undefined`: no separate test of the
   * name.
   */
  readonly host?: string;
  /** Not required: a failure is reported, but does not fail the whole. Default false. */
  readonly isOptional?: boolean;
  /**
   * Runs the test. Resolves with a short result; rejects with an Error whose message has no URL.
   */
  readonly run: (signal: AbortSignal) => Promise<string>;
}

export type HostlessProbe = Omit<Probe, "host">;
