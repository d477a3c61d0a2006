import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../examples/deploy/", import.meta.url));
const GATEWAY = "127.0.0.1:8080";

/** Where a proxy listens on loopback, without TLS, and the gateways behind it. */
interface ProxyPlace {
  /** For its files. */
  readonly directory: string;
  readonly port: number;
  readonly gateways: readonly string[];
}

/**
 * Writes the shipped `nginx.conf` with several gateways, without TLS and the redirect to it.
 * Returns the arguments of nginx, which stays in the foreground.
 */
export function shippedNginx({ directory, port, gateways }: ProxyPlace): readonly string[] {
  const servers = gateways.map((address) => `server ${address} max_fails=0;`);
  return writeShipped("nginx.conf", directory, (file) => ["-e", join(directory, "error.log"), "-c", file], [
    [/ {2}server \{\n {4}listen 80;.*?\n {2}\}\n/s, ""],
    ["listen 443 ssl http2;", `listen 127.0.0.1:${port};`],
    [/ {4}ssl_.*\n/g, ""],
    ["pid /run/nginx.pid;", `pid ${directory}/nginx.pid; daemon off;`],
    [`server ${GATEWAY} max_fails=0;`, servers.join(" ")],
  ]);
}

/**
 * Writes the shipped `Caddyfile` with several gateways, without TLS and with more health checks, so
 * that a test waits less for them. Returns Caddy's arguments.
 */
export function shippedCaddy({ directory, port, gateways }: ProxyPlace): readonly string[] {
  const args = (file: string) => ["run", "--adapter", "caddyfile", "--config", file];
  return writeShipped("Caddyfile", directory, args, [
    ["grace_period 5s", "grace_period 1s\n\tadmin off"],
    ["flares.example.org {", `http://127.0.0.1:${port} {`],
    ["health_interval 1s", "health_interval 200ms"],
    [`to ${GATEWAY}`, `to ${gateways.join(" ")}`],
  ]);
}

type Change = readonly [from: string | RegExp, to: string];

/** Copies a file of examples/deploy with these changes. Throws if one does not apply. */
function writeShipped(
  name: string,
  directory: string,
  argsOf: (file: string) => readonly string[],
  changes: readonly Change[],
): readonly string[] {
  const text = changes.reduce(
    (before, [from, to]) => {
      const after = before.replace(from, to);
      if (after === before) throw new Error(`${name} lacks ${from}`);
      return after;
    },
    readFileSync(join(FOLDER, name), "utf8"),
  );
  const file = join(directory, name);
  writeFileSync(file, text);
  return argsOf(file);
}
