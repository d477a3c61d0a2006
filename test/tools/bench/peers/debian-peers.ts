import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as passing } from "node:timers/promises";
import { freePort } from "../../../support/servers/free-port.ts";
import type { BenchServer } from "../harness/bench-server.ts";
import { type Contender, uniformText } from "../harness/contender.ts";
import { LineProcess } from "../harness/line-process.ts";
import { debianRoot } from "../harness/on-demand.ts";

const TOPIC = "a";

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}

/** Starts a program with a configuration file in its own directory, and waits until it listens. */
async function startConfigured(
  ports: { readonly port: number; readonly control: number },
  command: (directory: string) => readonly [program: string, ...args: string[]],
  files: Readonly<Record<string, string>>,
): Promise<BenchServer> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-peer-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const [program, ...args] = command(directory);
  const child = new LineProcess("server", program, args);
  const over = child.line();
  let problem: unknown;
  over.catch((error) => {
    problem = error;
  });
  while (!(await answers(ports.port))) {
    if (problem) throw problem;
    await passing(20);
  }
  return {
    ...{ ...ports, pid: child.pid },
    order: async () => null,
    stop: async () => {
      await child.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * The NATS server. Messages are published over its own protocol and read over WebSocket. It
 * combines writes.
 */
export const NATS: Contender = {
  name: "nats",
  start: async () => {
    const program = join(debianRoot(["nats-server"], "usr/sbin/nats-server"), "usr/sbin/nats-server");
    const ports = { port: await freePort(), control: await freePort() };
    const text = `host: 127.0.0.1
port: ${ports.control}
ping_interval: "10m"
websocket { host: 127.0.0.1, port: ${ports.port}, no_tls: true }
`;
    return startConfigured(
      ports,
      (directory) => [program, "-c", join(directory, "nats.conf"), "-l", join(directory, "log")],
      {
        "nats.conf": text,
      },
    );
  },
  load: {
    kind: "nats",
    hello: ['CONNECT {"verbose":false,"pedantic":false}', `SUB ${TOPIC} 1`],
  },
  drive: (load, clients) => {
    const [text = ""] = uniformText(load);
    const publish = uniformText(load).map((one) => `PUB ${TOPIC} ${one.length}\r\n${one}\r\n`);
    return {
      trigger: `CONNECT {"verbose":false,"pedantic":false}\r\n${publish.join("")}`,
      expect: clients * load.events,
      messageBytes: `MSG ${TOPIC} 1 ${text.length}\r\n${text}\r\n`.length,
    };
  },
};

/**
 * nginx with nchan. Messages are published over HTTP and read over WebSocket. It combines writes.
 */
export const NCHAN: Contender = {
  name: "nchan",
  start: async () => {
    const root = debianRoot(["nginx", "libnginx-mod-nchan"], "usr/sbin/nginx");
    const port = await freePort();
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    const text = (directory: string) => `load_module ${root}/usr/lib/nginx/modules/ngx_nchan_module.so;
daemon off;
master_process off;
pid ${directory}/pid;
error_log ${directory}/error.log crit;
events { worker_connections 19000; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join("\n  ")}
  keepalive_requests 1000000000;
  nchan_shared_memory_size 512M;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = / { nchan_subscriber websocket; nchan_channel_id ${TOPIC}; nchan_subscriber_first_message newest; }
    location = /publish { nchan_publisher http; nchan_channel_id ${TOPIC}; nchan_message_buffer_length 64; }
  }
}
`;
    return startConfigured(
      { port, control: port },
      (directory) => {
        writeFileSync(join(directory, "nginx.conf"), text(directory));
        return [join(root, "usr/sbin/nginx"), "-p", directory, "-c", join(directory, "nginx.conf")];
      },
      {},
    );
  },
  drive: (load, clients) => ({
    trigger: uniformText(load)
      .map(
        (text) =>
          `POST /publish HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      )
      .join(""),
    expect: clients * load.events,
  }),
};
