import type { Probe } from "../../../base/lib/probe.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import type { Network } from "../network.ts";
import type { EndpointCheck } from "./check-endpoint.ts";

interface EndpointProbeOptions {
  readonly network: Network;
  readonly url: string;
  /** Its number among the chain's endpoints, from 1: two may share a host. */
  readonly number: number;
  readonly clock: Clock;
}

const NEEDED = ["chain", "block", "receipts", "code", "call"] as const;
const OPTIONAL: ReadonlySet<EndpointCheck> = new Set(["logs", "traffic"]);

/**
 * Returns probes of the functions that a chain's feed needs, and optional ones. None shows the
 * endpoint's address.
 */
export function endpointProbes(options: EndpointProbeOptions): readonly Probe[] {
  const { network, url, number } = options;
  const { host, hostname, protocol } = new URL(url);
  const service = `${network.name} ${host}${number > 1 ? ` #${number}` : ""}`;
  // Traffic is measured over HTTP, because receipts are read over it where a provider has both.
  const last = /^wss?:$/.test(protocol) ? "stream" : "traffic";
  const checks: readonly EndpointCheck[] = [...NEEDED, "logs", last];
  return checks.map((what) => ({
    service,
    what,
    host: hostname,
    isOptional: OPTIONAL.has(what),
    run: async (signal) => {
      // Loaded on demand, as by the feed, because the chain library is large.
      const { checkEndpoint } = await import("./check-endpoint.ts");
      return checkEndpoint(what, options, signal);
    },
  }));
}

/** Returns a failing probe if all endpoints of a chain are on one host; otherwise none. */
export function hostProbes({ name }: Network, urls: readonly string[]): readonly Probe[] {
  const [first, ...others] = urls.map((url) => new URL(url));
  if (!first || others.some(({ host }) => host !== first.host)) return [];
  const run = async (): Promise<string> => {
    throw new Error(
      "is the only host: nothing confirms decimals and names of tokens, and they are not stored on disk; add an endpoint of another provider",
    );
  };
  return [
    { service: `${name} ${first.host}`, what: "second host", host: first.hostname, isOptional: true, run },
  ];
}
