import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../servers/free-port.ts";
import { PROGRAM, ROOT, runTutorial } from "./run-tutorial.ts";

const NAME = "flares.example.org";
const PACKAGE = "/opt/flarewire/node_modules/flarewire";

interface ProxyPlace {
  readonly directory: string;
  readonly certificate: string;
  readonly key: string;
  /** Where it listens, with TLS. */
  readonly port: number;
  /** Where the server listens. */
  readonly own: number;
}

interface DeployOptions {
  /** Returns the bash command of another proxy, which writes `proxy.pid`. Default: nginx. */
  readonly startProxy?: ((place: ProxyPlace) => string) | undefined;
  /** Whether npm packs and installs, which takes a minute. Otherwise, the clone's program runs. */
  readonly isPacked: boolean;
}

/** What the log has if a client with the key connected through the proxy. */
export const ADMITTED = /"transport":"websocket","address":"127.0.0.1".*"name":"desk","plan":"pro"/;

/**
 * Follows DEPLOY.md without systemd, as any user, below a temporary directory. Returns the server's
 * log.
 */
export async function deploy({ startProxy, isPacked }: DeployOptions): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-deploy-"));
  const at = (path: string) => join(directory, path);
  for (const path of ["etc/nginx", "etc/systemd/system", "opt", "usr/local/bin", "var/lib/flarewire", "work"])
    mkdirSync(at(path), { recursive: true });
  const [own, metrics, port, plain] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const [certificate, key] = [at("crt.pem"), at("key.pem")];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const pair = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key];
  execFileSync("openssl", ["req", "-x509", "-days", "2", ...pair, "-out", certificate, ...names], {
    stdio: "pipe",
  });
  const localize = (text: string) =>
    text
      .replace(new RegExp(`(https://|following )${NAME}`, "g"), `$1localhost:${port}`)
      .replaceAll(NAME, "localhost")
      .replaceAll("localhost:8080", `localhost:${own}`)
      .replaceAll("localhost:9464", `localhost:${metrics}`)
      .replace(/(?<![\w/])\/(?:opt\/flarewire|var\/lib\/flarewire|etc\/|usr\/local\/bin)/g, at);
  const nginxPort = [
    `s#listen 80;#listen 127.0.0.1:${plain};#`,
    `s#listen 443#listen 127.0.0.1:${port}#`,
    `s#127.0.0.1:8080#127.0.0.1:${own}#`,
    `s#pid .*#pid ${at("proxy.pid")};#`,
    `s#/etc/.*fullchain.pem#${certificate}#`,
    `s#/etc/.*privkey.pem#${key}#`,
    `s#${NAME}#localhost#`,
  ].join("; ");
  const nginx = `/usr/sbin/nginx -q -e ${at("error.log")} -c ${at("etc/nginx/nginx.conf")}`;
  const settings = {
    FLAREWIRE_PORT: own,
    FLAREWIRE_METRICS_PORT: metrics,
    FLAREWIRE_DRAIN: "0",
    FLAREWIRE_WARMUP: "0",
  };
  const quick = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const installed = at(PACKAGE.slice(1));
  const commands = {
    sudo: `exec "$@"`,
    curl: `exec /usr/bin/curl --cacert ${certificate} "$@"`,
    nginx: `sed -i '${nginxPort}' ${at("etc/nginx/nginx.conf")} && ${nginx} -t`,
    "systemd-run": `while [ "$1" != /usr/bin/node ]; do shift; done; shift; exec node "$@"`,
    "flarewire-keys": `exec ${at("usr/local/bin/flarewire-keys")} "$@"`,
    systemctl: `
unit=${at("etc/systemd/system/flarewire.service")}
of() { sed -n "s#^$1=##p" $unit | sed 's#%S#${at("var/lib")}#g; s#/usr/bin/node#node#; s#/opt/flarewire#${at("opt/flarewire")}#'; }
case "$*" in *nginx*) ${startProxy?.({ directory, certificate, key, port, own }) ?? `exec ${nginx}`};; esac
case $1 in
  stop | restart) pid=$(cat ${at("pid")}) && kill $pid && tail -s 0.05 --pid $pid -f /dev/null;;
esac
case $1 in
  enable | start | restart)
    setsid env $(of Environment) $(cat ${at("etc/flarewire/flarewire.env")}) ${quick.join(" ")} $(of ExecStart) < /dev/null >> ${at("log")} 2>&1 &
    echo $! > ${at("pid")};;
esac`,
    npm: isPacked
      ? `PATH=\${PATH#*:}
case $1 in
  pack) cd ${ROOT} && exec npm pack --pack-destination ${at("work")};;
  install) exec npm "$@";;
esac`
      : `[ "$1" = install ] || exit 0
mkdir -p ${installed}/dist ${at("opt/flarewire/node_modules/.bin")}
ln -sfn ${ROOT}examples ${installed}/examples
printf 'await import("${PROGRAM}")' > ${installed}/dist/main.js
echo '{"type":"module"}' > ${installed}/package.json
printf '#!/bin/sh\\nexec node ${installed}/dist/main.js "$@"' > ${at("opt/flarewire/node_modules/.bin/flarewire")}
chmod +x ${at("opt/flarewire/node_modules/.bin/flarewire")}`,
  };
  const end = (file: string) => {
    const stop = `pid=$(cat ${at(file)}) && kill $pid && tail -s 0.05 --pid $pid -f /dev/null`;
    if (existsSync(at(file))) execFileSync("bash", ["-c", stop]);
  };
  try {
    await runTutorial("examples/DEPLOY.md", {
      folder: at("work"),
      localize,
      commands,
      following: /flarewire tail/,
      environment: { NODE_EXTRA_CA_CERTS: certificate, HOME: directory, XDG_DATA_HOME: directory },
    });
    return readFileSync(at("log"), "utf8");
  } finally {
    end("pid");
    end("proxy.pid");
    rmSync(directory, { recursive: true, force: true });
  }
}
