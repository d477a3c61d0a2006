import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { eventsOnServer, expectSameEvents } from "../scale/cluster/cluster-log.ts";
import { ProcessCluster } from "../scale/cluster/process-cluster.ts";
import { HAS_REDIS, isInstalled } from "../scale/cluster/redis-servers.ts";
import { HoppingClient } from "../support/clients/hopping-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { createChance } from "../support/random/chance.ts";
import { freePort } from "../support/servers/free-port.ts";
import { findInstalled } from "../support/setup/debian-package.ts";
import { pumpedFlags } from "../support/world/pumped-market.ts";

const FOLDER = fileURLToPath(new URL("../../examples/deploy/cluster/", import.meta.url));
const read = (name: string) => readFileSync(join(FOLDER, name), "utf8");
const HAS_NGINX = findInstalled(() => isInstalled("nginx", "-v"), "nginx-light");
const MARKET = [...pumpedFlags(), "--loop", "--speed", "300", "--warmup", "1h", "--drain", "0"];

/** Starts nginx with the folder's file, but other ports. Returns its address and how to end it. */
async function startBalancer(directory: string, ports: readonly string[]) {
  const port = await freePort();
  const changes = [
    ["listen 80;", `listen 127.0.0.1:${port};`],
    ["pid /run/nginx.pid;", `pid ${directory}/nginx.pid; daemon off;`],
    ...ports.map((node, index) => [`10.0.0.1${index + 1}:8080`, `127.0.0.1:${node}`]),
  ];
  let text = read("nginx.conf");
  for (const [from = "", to = ""] of changes) {
    expect(text.split(from)).toHaveLength(2);
    text = text.replace(from, to);
  }
  const file = join(directory, "nginx.conf");
  writeFileSync(file, text);
  const nginx = spawn("nginx", ["-e", join(directory, "error.log"), "-c", file], { stdio: "ignore" });
  const ended = once(nginx, "exit");
  const end = async () => {
    nginx.kill("SIGTERM");
    await ended;
  };
  return { url: `http://127.0.0.1:${port}`, end };
}

describe("the files of examples/deploy/cluster", () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-deploy-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test.runIf(isInstalled("systemd-analyze"))("have units that systemd accepts", () => {
    const files = ["flarewire", "flarewire-redis", "flarewire-sentinel"].map((name) => {
      const file = join(directory, `${name}.service`);
      // The programs need not be installed here.
      writeFileSync(
        file,
        read(`${name}.service`).replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`),
      );
      return file;
    });
    execFileSync("systemd-analyze", ["verify", "--man=no", ...files], { stdio: "pipe" });
  });

  test.runIf(HAS_REDIS && HAS_NGINX)(
    "[L3] let nginx spread clients over three nodes; when one is killed, they continue without gaps or further resets",
    async () => {
      await using cluster = await ProcessCluster.start(3, [...MARKET, "--trust-proxy", "127.0.0.1"]);
      const ports = cluster.running.map(({ url }) => new URL(url).port);
      const { url, end } = await startBalancer(directory, ports);
      const ready = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status;
      await expect.poll(ready).toBe(200);
      const clients = [1, 2, 3].map((seed) => new HoppingClient(() => [url], createChance(seed)));
      const following = clients.map((client) => client.follow());
      try {
        const move = async () => {
          const seqs = clients.map(({ seq }) => seq + 20);
          await expect.poll(() => clients.every(({ seq }, index) => seq > (seqs[index] ?? 0))).toBe(true);
        };
        await move();
        const served = async ({ url: node }: { readonly url: string }) =>
          /^flarewire_connections_closed_total\{.*\} [1-9]/m.test(
            await (await fetch(`${node}/metrics`)).text(),
          );
        for (const node of cluster.running) await expect.poll(() => served(node)).toBe(true);
        const [victim] = cluster.running.filter((node) => node !== cluster.leader);
        victim?.cli.child.kill("SIGKILL");
        await move();
        await move();
        for (const client of clients) client.end();
        await Promise.all(following);
        const log = await eventsOnServer(cluster.server.port);
        for (const client of clients) {
          expect([client.trouble, client.resets, client.epochs.size]).toEqual([[], 1, 1]);
          expectSameEvents(client, log);
          await client.connect();
          await expectOneState(url, client);
          await client.disconnect();
        }
        expect((await fetch(`${url}/metrics`)).status).toBe(404);
      } finally {
        for (const client of clients) client.end();
        await end();
      }
    },
  );

  test("name the same servers, Sentinels, cluster and password everywhere", () => {
    const compose = read("compose.yaml");
    const [, name] = /sentinel monitor (\w+) /.exec(read("sentinel.conf")) ?? [];
    for (const text of [compose, read("flarewire.env")])
      expect(text).toMatch(new RegExp(`:26379/${name}$`, "m"));
    for (const file of ["redis.conf", "sentinel.conf", "flarewire.env", "compose.yaml"])
      expect(read(file)).toContain("CHANGE-ME");
    for (const service of ["node", "redis", "sentinel"])
      for (const number of [1, 2, 3]) expect(compose).toContain(`\n  ${service}-${number}:`);
    for (const number of [1, 2, 3]) expect(read("nginx.conf")).toContain(`server 10.0.0.1${number}:8080 `);
  });
});
