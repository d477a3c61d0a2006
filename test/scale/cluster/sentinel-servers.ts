import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../support/servers/free-port.ts";
import { findInstalled } from "../../support/setup/debian-package.ts";
import { answers, ask, isInstalled, type RedisServer, startRedis } from "./redis-servers.ts";
import { Relays } from "./relays.ts";

/** Whether Debian's redis-server and redis-sentinel are installed, or could be installed now. */
export const HAS_SENTINEL = findInstalled(
  () => isInstalled("redis-server") && isInstalled("redis-sentinel"),
  "redis-server",
  "redis-sentinel",
);

const NAME = "market";
/** As in `examples/deploy/cluster/`. */
const DOWN_AFTER_MS = 2_000;
/** After an election without a winner, the Sentinels wait twice this time before the next one. */
const FAILOVER_TIMEOUT_MS = 5_000;

/** One of the three servers, or one of their Sentinels. */
interface Part {
  /** Source address of its connections to the others. */
  readonly address: string;
  /** Port of its relay, to which the others connect. */
  readonly port: number;
}

interface Server extends Part, Pick<RedisServer, "kill" | "start" | "signal"> {
  /** Port of the server itself. */
  readonly directPort: number;
}

interface Sentinel extends Part {
  readonly process: ChildProcess;
}

/** A primary, two replicas and three Sentinels, each behind a relay. */
export class SentinelServers implements AsyncDisposable {
  readonly relays = new Relays();
  readonly servers: Server[] = [];
  readonly sentinels: Sentinel[] = [];
  readonly #ends: (() => unknown)[] = [];

  private constructor() {}

  static async start(): Promise<SentinelServers> {
    const all = new SentinelServers();
    try {
      for (const number of [1, 2, 3]) await all.#startServer(number);
      for (const number of [1, 2, 3]) await all.#startSentinel(number);
      await all.settled();
    } catch (error) {
      await all[Symbol.asyncDispose]();
      throw error;
    }
    return all;
  }

  /** Value of a gateway's setting `cluster`. */
  get cluster(): string {
    return `redis+sentinel://${this.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${NAME}`;
  }

  /** Returns the primary that two of the Sentinels name, or else the one that the first names. */
  async primary(sentinels = this.sentinels): Promise<Server> {
    const named = await Promise.all(sentinels.map(({ port }) => primaryPort(port)));
    const port = named.find((one, index) => named.indexOf(one) !== index) ?? named[0];
    const server = this.servers.find((one) => one.port === port);
    if (!server) throw new Error(`no server has the port ${port}`);
    return server;
  }

  /** Resolves when all Sentinels name another server as the primary. */
  async failedOver({ port: old }: Server): Promise<void> {
    const isDone = async () => {
      const ports = await Promise.all(this.sentinels.map(({ port }) => primaryPort(port)));
      return ports.every((port) => port !== undefined && port !== old);
    };
    while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 100));
  }

  /** Resolves when each Sentinel knows the others and two replicas, and both follow the primary. */
  async settled(): Promise<void> {
    const isReady = async ({ port }: Sentinel) => {
      const fields = await ask(port, (redis) => redis.call("SENTINEL", "MASTER", NAME));
      const of = (name: string) => (Array.isArray(fields) ? fields[fields.indexOf(name) + 1] : undefined);
      return of("num-slaves") === "2" && of("num-other-sentinels") === "2";
    };
    const isCopied = async () => {
      const { directPort } = await this.primary();
      const info = await ask(directPort, (redis) => redis.info("replication"));
      return (info.match(/state=online/g) ?? []).length === 2;
    };
    const checks = () => Promise.all([...this.sentinels.map(isReady), isCopied()]);
    while (!(await checks()).every(Boolean)) await new Promise((resolve) => setTimeout(resolve, 100));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.splice(0).toReversed()) await end();
    await this.relays.close();
  }

  async #startServer(number: number): Promise<void> {
    const address = `127.1.0.${number}`;
    const directPort = await freePort();
    const port = await this.relays.open(address, directPort);
    const [primary] = this.servers;
    const server = await startRedis({
      port: `${directPort}`,
      appendfsync: "everysec",
      "bind-source-addr": address,
      "replica-announce-ip": "127.0.0.1",
      "replica-announce-port": `${port}`,
      // By default, a primary waits five seconds for more replicas before a full copy.
      "repl-diskless-sync-delay": "0",
      ...(primary ? { replicaof: `127.0.0.1 ${primary.port}` } : {}),
    });
    const { kill, start, signal } = server;
    this.servers.push({ address, port, directPort, kill, start, signal });
    this.#ends.push(() => server.dispose());
  }

  async #startSentinel(number: number): Promise<void> {
    const address = `127.1.1.${number}`;
    const directPort = await freePort();
    const port = await this.relays.open(address, directPort);
    const { process, end } = spawnSentinel([
      ...[`port ${directPort}`, `bind-source-addr ${address}`],
      `sentinel monitor ${NAME} 127.0.0.1 ${this.servers[0]?.port} 2`,
      `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${NAME} ${FAILOVER_TIMEOUT_MS}`,
      ...["sentinel announce-ip 127.0.0.1", `sentinel announce-port ${port}`],
    ]);
    this.sentinels.push({ address, port, process });
    this.#ends.push(end);
    await answers(directPort);
  }
}

/** Starts a Sentinel on loopback with these lines of sentinel.conf. */
export function spawnSentinel(settings: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-sentinel-"));
  const file = join(directory, "sentinel.conf");
  writeFileSync(file, ["bind 127.0.0.1", `dir ${directory}`, ...settings, ""].join("\n"));
  const process = spawn("redis-sentinel", [file], { stdio: "ignore" });
  const end = async () => {
    process.kill("SIGKILL");
    if (process.exitCode === null && process.signalCode === null) await once(process, "exit");
    rmSync(directory, { recursive: true, force: true });
  };
  return { process, end };
}

async function primaryPort(sentinel: number): Promise<number | undefined> {
  const answer = await ask(sentinel, (redis) => redis.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME));
  return Array.isArray(answer) ? Number(answer[1]) : undefined;
}
