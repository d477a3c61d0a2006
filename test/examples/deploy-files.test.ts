import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { request as requestTls } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { isInstalled } from "../scale/cluster/redis-servers.ts";
import { freePort } from "../support/servers/free-port.ts";
import { findInstalled } from "../support/setup/debian-package.ts";
import { findProgram } from "../tools/bench/harness/on-demand.ts";
import { LedMarket } from "./led-gateway.ts";

const FOLDER = fileURLToPath(new URL("../../examples/deploy/", import.meta.url));
const read = (name: string) => readFileSync(join(FOLDER, name), "utf8");
const NAME = "flares.example.org";
const PROMTOOL = findProgram("prometheus", "usr/bin/promtool");
const CADDY = findProgram("caddy", "usr/bin/caddy");
const HAS_NGINX = findInstalled(() => isInstalled("nginx", "-v"), "nginx-light");

const directory = mkdtempSync(join(tmpdir(), "flarewire-deploy-"));
const [certificate, key] = [join(directory, "crt.pem"), join(directory, "key.pem")];
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Replaces each text, which must occur once. */
function replaced(text: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((before, [from, to]) => {
    expect(before.split(from)).toHaveLength(2);
    return before.replace(from, to);
  }, text);
}

interface Proxy {
  readonly program: string;
  readonly args: readonly string[];
  /** The port without TLS, which redirects to the one with it. */
  readonly plainPort?: number;
}

async function nginxAt(port: number, gatewayPort: string): Promise<Proxy> {
  const plainPort = await freePort();
  const text = replaced(read("nginx.conf"), [
    ["listen 80;", `listen 127.0.0.1:${plainPort};`],
    ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
    ["127.0.0.1:8080", `127.0.0.1:${gatewayPort}`],
    ["pid /run/nginx.pid;", `pid ${directory}/nginx.pid; daemon off;`],
    [`/etc/letsencrypt/live/${NAME}/fullchain.pem`, certificate],
    [`/etc/letsencrypt/live/${NAME}/privkey.pem`, key],
  ]);
  const file = join(directory, "nginx.conf");
  writeFileSync(file, text);
  return { program: "nginx", args: ["-e", join(directory, "error.log"), "-c", file], plainPort };
}

function caddyAt(port: number, gatewayPort: string): Proxy {
  const options = "grace_period 1s\n\tadmin off\n\tauto_https disable_redirects";
  const site = `https://${NAME}:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`;
  const text = replaced(read("Caddyfile"), [
    ["grace_period 5s", options],
    [`${NAME} {`, site],
    ["127.0.0.1:8080", `127.0.0.1:${gatewayPort}`],
  ]);
  const file = join(directory, "Caddyfile");
  writeFileSync(file, text);
  return { program: CADDY ?? "", args: ["run", "--adapter", "caddyfile", "--config", file] };
}

describe("the proxies of examples/deploy", () => {
  const market = new LedMarket();
  let gateway: Gateway;
  beforeAll(async () => {
    const names = ["-subj", `/CN=${NAME}`, "-addext", `subjectAltName=DNS:${NAME}`];
    const pair = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key];
    execFileSync("openssl", ["req", "-x509", "-days", "2", ...pair, "-out", certificate, ...names], {
      stdio: "pipe",
    });
    const settings = { port: 0, drain: "0", logLevel: "silent", trustProxy: "loopback" } as const;
    gateway = await startGateway(createConfig({ ...settings, allowedHosts: NAME }), { source: market });
  });
  afterAll(() => gateway.stop());

  test.for([
    ["nginx", HAS_NGINX],
    ["caddy", CADDY !== undefined],
  ] as const)(
    "%s serves REST, WebSocket and server-sent events with TLS, forwards live events, and hides metrics",
    async ([name, isThere], { skip, onTestFinished }) => {
      if (!isThere) skip();
      const port = await freePort();
      const gatewayPort = new URL(gateway.url).port;
      const proxy = name === "nginx" ? await nginxAt(port, gatewayPort) : caddyAt(port, gatewayPort);
      const child = spawn(proxy.program, proxy.args, {
        env: { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
        stdio: "ignore",
      });
      const ended = once(child, "exit");
      const open: (() => void)[] = [];
      onTestFinished(async () => {
        // Caddy waits for the streams before it ends.
        for (const close of open) close();
        child.kill("SIGTERM");
        await ended;
      });
      const to = {
        host: "127.0.0.1",
        port,
        servername: NAME,
        ca: readFileSync(certificate),
        agent: false,
      } as const;
      const ask = async (path: string, fields: Record<string, string> = {}): Promise<IncomingMessage> => {
        const sent = requestTls({ ...to, path, headers: { host: NAME, ...fields } }).end();
        const [response] = await once(sent, "response");
        return response;
      };
      const statusOf = async (path: string) => (await ask(path)).resume().statusCode;
      await expect.poll(() => statusOf("/readyz").catch(() => undefined)).toBe(200);
      expect(await statusOf("/api/v1/flares")).toBe(200);
      expect(await statusOf("/metrics")).toBe(404);
      const stream = (await ask("/api/v1/events", { accept: "text/event-stream" })).setEncoding("utf8");
      const socket = new WebSocket(`wss://127.0.0.1:${port}/api/v1/stream?channels=*`, "flarewire.v1", {
        ...to,
        headers: { host: NAME },
      });
      onTestFinished(() => {
        stream.destroy();
        socket.terminate();
      });
      const heard = { sse: "", websocket: "" };
      stream.on("data", (text: string) => (heard.sse += text));
      socket.on("message", (bytes) => (heard.websocket += String(bytes)));
      // Both streams have answered, so what follows is live.
      await expect
        .poll(() => heard.sse.includes("hello") && heard.websocket.includes("subscribed"))
        .toBe(true);
      const symbol = name.toUpperCase();
      market.start(symbol);
      await expect.poll(() => heard.websocket).toContain(symbol);
      await expect.poll(() => heard.sse).toContain(symbol);
      if (proxy.plainPort === undefined) return;
      const plain = request({
        host: "127.0.0.1",
        port: proxy.plainPort,
        path: "/docs",
        headers: { host: NAME },
      });
      const [redirect] = await once(plain.end(), "response");
      expect(redirect.resume().headers.location).toBe(`https://${NAME}/docs`);
    },
  );
});

describe("the other files of examples/deploy", () => {
  test.runIf(PROMTOOL)("promtool accepts the configuration, the alert rules and their tests", () => {
    const run = (...args: readonly string[]) =>
      execFileSync(PROMTOOL ?? "", args, { cwd: FOLDER, encoding: "utf8", stdio: "pipe" });
    expect(run("check", "config", "prometheus.yml")).toContain("14 rules found");
    expect(run("test", "rules", "alert-rules.test.yaml")).toContain("SUCCESS");
  });

  test("alert rules use only metrics that the dashboard shows too", () => {
    const dashboard = readFileSync(join(FOLDER, "../grafana-dashboard.json"), "utf8");
    const names = new Set(read("alert-rules.yaml").match(/\b(?:flarewire|process)_[a-z_]+/g));
    expect(names.size).toBeGreaterThan(12);
    for (const name of names) expect(dashboard).toContain(name);
  });

  test.runIf(isInstalled("systemd-analyze"))(
    "systemd accepts the units, and rates their exposure at 2.0 or less",
    () => {
      const files = ["flarewire.service", "flarewire-edge@.service"].map((name) => {
        const file = join(directory, name);
        // The program need not be installed here.
        const [from, to] = ["ExecStart=/usr/bin/node", `ExecStart=${process.execPath}`];
        writeFileSync(file, replaced(read(name), [[from, to]]));
        return file;
      });
      execFileSync("systemd-analyze", ["verify", "--man=no", ...files], { stdio: "pipe" });
      // The threshold is in tenths. The exposure of both was 1.4 when this test was written.
      for (const file of files)
        execFileSync("systemd-analyze", ["security", "--offline=true", "--threshold=20", file], {
          stdio: "pipe",
        });
    },
  );

  test("an edge's unit restarts, stops and is confined like its leader's, and outlives it", () => {
    const common = (name: string) => {
      const [, text = ""] = read(name).split(/^EnvironmentFile=.*$/m);
      return text.replace(/^StateDirectory=.*$/m, "").replace(/^#.*\n/gm, "");
    };
    expect(common("flarewire.service")).toContain("NoNewPrivileges=yes");
    expect(common("flarewire-edge@.service")).toBe(common("flarewire.service"));
    const unit = read("flarewire-edge@.service");
    expect(unit).toMatch(/^Wants=.*\bflarewire\.service$/m);
    expect(unit).not.toMatch(/^(Requires|BindsTo|PartOf)=/m);
  });

  test.runIf(isInstalled("docker-compose"))("docker-compose accepts the file", () => {
    const env = { ...process.env, GRAFANA_PASSWORD: "secret" };
    const args = ["-f", join(FOLDER, "compose.yaml"), "config", "--quiet"];
    execFileSync("docker-compose", args, { stdio: "pipe", env });
  });

  test("each supervisor waits longer than the drain, and the files agree on signals, ports and paths", () => {
    const seconds = (name: string, pattern: RegExp) => Number(pattern.exec(read(name))?.[1]);
    const drains = [
      ["compose.yaml", /FLAREWIRE_DRAIN: (\d+)s/, /stop_grace_period: (\d+)s/, 0],
      ["flarewire.service", /FLAREWIRE_DRAIN=(\d+)s/, /TimeoutStopSec=(\d+)/, 0],
      ["flarewire-edge@.service", /FLAREWIRE_DRAIN=(\d+)s/, /TimeoutStopSec=(\d+)/, 0],
      ["kubernetes.yaml", /FLAREWIRE_DRAIN, value: (\d+)s/, /GracePeriodSeconds: (\d+)/, 5],
    ] as const;
    for (const [name, drain, grace, wait] of drains)
      expect(seconds(name, grace)).toBeGreaterThan(seconds(name, drain) + wait + 5);
    const image = read("Dockerfile");
    expect(image).toMatch(/^USER nonroot$/m);
    expect(image).toMatch(/^STOPSIGNAL SIGTERM$/m);
    expect(image).toMatch(/^HEALTHCHECK .*\/healthz/m);
    expect(image).toContain("FLAREWIRE_METRICS_PORT=9464");
    expect(read("prometheus.yml")).toContain('targets: ["flarewire:9464"]');
    expect(read("kubernetes.yaml")).toContain("replicas: 1");
    for (const name of ["compose.yaml", "kubernetes.yaml"]) expect(read(name)).toContain("/data");
  });
});
