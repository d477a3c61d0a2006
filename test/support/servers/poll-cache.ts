import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, listens } from "./free-port.ts";

const DOCUMENT = fileURLToPath(new URL("../../../src/gateway/OPERATING.md", import.meta.url));

/** Returns nginx's configuration in the operators' document: for `http`, and for `server`. */
function documented(): readonly [http: string, server: string] {
  const [http, server] = [...readFileSync(DOCUMENT, "utf8").matchAll(/```nginx\n(.*?)```/gs)];
  if (!http?.[1] || !server?.[1]) throw new Error("the document lacks nginx's configuration");
  return [http[1], server[1]];
}

/** nginx with the documented cache before a gateway on loopback. */
export class PollCache {
  readonly port: number;
  readonly #nginx: ChildProcess;

  private constructor(nginx: ChildProcess, port: number) {
    this.#nginx = nginx;
    this.port = port;
  }

  static async start(directory: string, gatewayPort: number): Promise<PollCache> {
    const port = await freePort();
    const [http, server] = documented();
    const cache = join(directory, "cache");
    mkdirSync(cache);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    const file = join(directory, "nginx.conf");
    writeFileSync(
      file,
      `daemon off; master_process off; ${process.getuid?.() === 0 ? "user root;" : ""}
pid ${directory}/pid; error_log stderr crit; worker_rlimit_nofile 65536;
events { worker_connections 30000; }
http {
  ${paths.map((name) => `${name}_temp_path ${directory}/${name};`).join(" ")}
  access_log off; keepalive_requests 1000000;
  upstream flarewire { server 127.0.0.1:${gatewayPort} max_fails=0; keepalive 64; }
  ${http.replace("/var/cache/nginx/flarewire", cache)}
  server {
    listen 127.0.0.1:${port} backlog=16384;
    proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host; proxy_read_timeout 75s;
    ${server}
  }
}`,
    );
    const nginx = spawn("nginx", ["-p", directory, "-e", "stderr", "-c", file], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    await listens(port);
    return new PollCache(nginx, port);
  }

  async stop(): Promise<void> {
    const ended = once(this.#nginx, "exit");
    this.#nginx.kill("SIGTERM");
    await ended;
  }
}
