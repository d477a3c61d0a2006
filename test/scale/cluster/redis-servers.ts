import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis, type RedisOptions } from "ioredis";
import { freePort } from "../../support/servers/free-port.ts";
import { findInstalled } from "../../support/setup/debian-package.ts";
import { eventually } from "../../support/time/waiters.ts";

/** Whether Debian's redis-server is installed, or could be installed now. */
export const HAS_REDIS = findInstalled(() => isInstalled("redis-server"), "redis-server");

export function isInstalled(program: string, option = "--version"): boolean {
  try {
    execFileSync(program, [option], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

/** A Redis server on loopback. */
export interface RedisServer {
  readonly port: number;
  /** Process id; 0 after a kill. */
  readonly pid: number;
  /** Kills the server. Its files stay. */
  kill(): Promise<void>;
  /** Starts the server again, on the same port and files. */
  start(): Promise<void>;
  /** Pauses the process, or continues it. */
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  /** Copies the server's current files. Returns the copy's directory. */
  backup(): string;
  /** Kills the server, and starts it again with a backup's files. */
  restore(backup: string): Promise<void>;
  /** Kills the server, and removes its files and backups. */
  dispose(): Promise<void>;
}

/** Password and TLS options of a connection. */
type Access = Pick<RedisOptions, "password" | "tls">;

/** Starts a server with an append-only file. `settings` are those of redis.conf. */
export async function startRedis(
  settings: Readonly<Record<string, string>> = {},
  access: Access = {},
): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-redis-"));
  const given = settings["tls-port"] ?? settings.port;
  const port = given === undefined ? await freePort() : Number(given);
  const backups: string[] = [];
  let server: ChildProcess | undefined;
  const all = {
    port: `${port}`,
    bind: "127.0.0.1",
    dir: directory,
    save: "",
    appendonly: "yes",
    daemonize: "no",
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, ...value.split(" ")]);
  const start = async () => {
    server = spawn("redis-server", args, { stdio: "ignore" });
    await answers(port, access);
  };
  const kill = async () => {
    const ending = server;
    server = undefined;
    if (!ending || ending.exitCode !== null) return;
    const ended = once(ending, "exit");
    ending.kill("SIGKILL");
    await ended;
  };
  await start();
  return {
    port,
    get pid() {
      return server?.pid ?? 0;
    },
    start,
    kill,
    signal: (name) => server?.kill(name),
    backup: () => {
      const copy = `${directory}-${backups.length}`;
      cpSync(directory, copy, { recursive: true });
      backups.push(copy);
      return copy;
    },
    restore: async (backup) => {
      await kill();
      rmSync(directory, { recursive: true });
      cpSync(backup, directory, { recursive: true });
      await start();
    },
    dispose: async () => {
      await kill();
      for (const one of [directory, ...backups]) rmSync(one, { recursive: true, force: true });
    },
  };
}

/** Waits until a server answers. */
export async function answers(port: number, access: Access = {}): Promise<void> {
  const redis = new Redis({
    port,
    host: "127.0.0.1",
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
    ...access,
  });
  redis.on("error", () => {});
  await redis.ping();
  redis.disconnect();
}

/** Resolves when the server has a usable checkpoint, for which it asks as a starting node does. */
export async function untilStored(port: number): Promise<void> {
  await ask(port, async (redis) => {
    const key = "fw:{flarewire}:checkpoint";
    const isStored = async () => {
      if ((await redis.type(key)) === "hash") return true;
      // By itself, the leader would store it after half a minute, and later on a busy machine.
      await redis.publish("fw:{flarewire}:notices", '{"kind":"store"}');
      return false;
    };
    await eventually(isStored, () => "nothing stored");
  });
}

/** Runs a query on a server over a new connection. */
export async function ask<T>(
  port: number,
  question: (redis: Redis) => Promise<T>,
  access: Access = {},
): Promise<T> {
  const redis = new Redis({ port, host: "127.0.0.1", protocol: 2, ...access });
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}
