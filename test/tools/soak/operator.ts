import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../support/servers/free-port.ts";
import { debianProgram } from "../bench/harness/on-demand.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const NAME = "flares.example.org";
const COMMANDS = 10;

type Change = readonly [from: string | RegExp, to: string];

const replaceAll = (text: string, changes: readonly Change[]) =>
  changes.reduce((before, [from, to]) => before.replaceAll(from, to), text);

/** Returns the environment and arguments of a unit's `ExecStart`. */
function startOf(unit: string, stateDirectory: string): string {
  const [, command = ""] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  const [, environment = ""] = /^Environment=(.*)$/m.exec(unit) ?? [];
  return `env ${environment.replaceAll("%S", dirname(stateDirectory))} $(cat "$ETC/flarewire/flarewire.env") ${command}`;
}

/**
 * Runs the ten commands of OPERATING.md without systemd, below a temporary directory. Resolves with
 * true if the client follows and SIGTERM stops the unit's command in order.
 */
export async function runOperator(proxy: "nginx" | "caddy"): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-operator-"));
  const at = (path: string) => join(directory, path);
  for (const path of ["etc/nginx", "etc/systemd/system", "opt", "var/lib/flarewire"])
    mkdirSync(at(path), { recursive: true });
  const [certificate, key] = [at("crt.pem"), at("key.pem")];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const pair = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key];
  execFileSync("openssl", ["req", "-x509", "-days", "2", ...pair, "-out", certificate, ...names], {
    stdio: "pipe",
  });
  const [port, plain, own, metrics] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const documents = readFileSync(join(ROOT, "src/gateway/OPERATING.md"), "utf8");
  const [, block = ""] = /```bash\n([\s\S]*?)```/.exec(documents) ?? [];
  const lines = block.trim().split("\n");
  const caddy = debianProgram("caddy", "usr/bin/caddy").path;
  const bound = `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`;
  writeFileSync(
    at("Caddyfile"),
    replaceAll(readFileSync(join(ROOT, "examples/deploy/Caddyfile"), "utf8"), [
      ["grace_period 5s", "grace_period 1s\n\tadmin off\n\tauto_https disable_redirects"],
      [`${NAME} {`, bound],
      ["127.0.0.1:8080", `127.0.0.1:${own}`],
    ]),
  );
  writeFileSync(
    at("nginx.sed"),
    [
      `s#listen 80;#listen 127.0.0.1:${plain};#`,
      `s#listen 443#listen 127.0.0.1:${port}#`,
      `s#127.0.0.1:8080#127.0.0.1:${own}#`,
      `s#pid .*#pid ${at("nginx.pid")};#`,
      `s#/etc/.*fullchain.pem#${certificate}#`,
      `s#/etc/.*privkey.pem#${key}#`,
      `s#${NAME}#localhost#`,
    ].join("\n"),
  );
  const unit = readFileSync(join(ROOT, "examples/deploy/flarewire.service"), "utf8");
  const paths: readonly Change[] = [
    ["sudo ", ""],
    [/systemd-run .* \/usr\/bin\/node/g, process.execPath],
    ["/usr/bin/node", process.execPath],
    [NAME, "localhost"],
    ["/opt/flarewire", at("opt/flarewire")],
    [/(?<![\w/])\/etc\//g, `${at("etc")}/`],
    ["/var/lib/flarewire", at("var/lib/flarewire")],
  ];
  const start = replaceAll(startOf(unit, "/var/lib/flarewire"), paths);
  const isolated = `FLAREWIRE_PORT=${own} FLAREWIRE_METRICS_PORT=${metrics} FLAREWIRE_SPEED=60`;
  const started = `(${start.replace(" serve", ` serve`).replace("env ", "exec env ").replace(`${process.execPath}`, `${isolated} ${process.execPath}`)}) > ${at("log")} 2>&1 & echo $! > ${at("pid")}`;
  const nginx = `sed -i -f ${at("nginx.sed")} ${at("etc/nginx/nginx.conf")} && nginx -t -q -e ${at("error.log")} -c ${at("etc/nginx/nginx.conf")} && nginx -e ${at("error.log")} -c ${at("etc/nginx/nginx.conf")}`;
  const caddyRun = `cd ${directory} && ${caddy} start --config Caddyfile --adapter caddyfile --pidfile ${at("caddy.pid")} > ${at("caddy.log")} 2>&1`;
  const replacements: readonly Change[] = [
    ["npm ci && npm pack", `(cd ${ROOT} && npm pack --pack-destination ${directory})`],
    ["systemctl enable --now flarewire", started],
    ["nginx -t && systemctl reload nginx", proxy === "nginx" ? nginx : caddyRun],
    ["curl ", `curl --cacert ${certificate} `],
    [/https:\/\/localhost/g, `https://localhost:${port}`],
  ];
  const script = lines.map((line) => replaceAll(replaceAll(line, paths), replacements));
  const all = [`set -e`, `ETC=${at("etc")}`, `export NODE_EXTRA_CA_CERTS=${certificate}`, ...script].join(
    "\n",
  );
  const env = {
    ...process.env,
    HOME: directory,
    XDG_DATA_HOME: directory,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  };
  const shell = spawn("bash", ["-c", all], {
    cwd: directory,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const followed = Promise.withResolvers<boolean>();
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.includes("flarewire tail: following")) followed.resolve(true);
    });
  shell.once("exit", () => followed.resolve(false));
  const isFollowed = await followed.promise;
  const log = () => readFileSync(at("log"), "utf8");
  let isDrained = false;
  try {
    const pid = Number(readFileSync(at("pid"), "utf8"));
    process.kill(pid, "SIGTERM");
    const until = performance.now() + 20_000;
    while (!isDrained && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      isDrained = log().includes('"msg":"stopped"');
    }
  } finally {
    if (shell.exitCode === null && shell.pid !== undefined) {
      process.kill(-shell.pid, "SIGTERM");
      await once(shell, "exit");
    }
    const pidFile = at(proxy === "nginx" ? "nginx.pid" : "caddy.pid");
    try {
      process.kill(Number(readFileSync(pidFile, "utf8")), "SIGTERM");
    } catch (error) {
      output += String(error);
    }
  }
  // The proxy forwards the key and the client's address.
  const isAdmitted = /"transport":"websocket","address":"127.0.0.1".*"name":"desk","plan":"pro"/.test(log());
  const isGood = isFollowed && isAdmitted && isDrained && lines.length === COMMANDS;
  process.stdout.write(
    `${proxy}: ${lines.length} commands, followed: ${isFollowed}, with its key: ${isAdmitted}, drained: ${isDrained}\n`,
  );
  if (!isGood) process.stdout.write(`${all}\n${output}\n`);
  rmSync(directory, { recursive: true, force: true });
  return isGood;
}
