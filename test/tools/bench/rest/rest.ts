import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BenchServer, startNodeServer, startServer } from "../harness/bench-server.ts";
import { isPinned } from "../harness/line-process.ts";
import { bunProgram, type DebianProgram, debianProgram } from "../harness/on-demand.ts";
import { cpuMicros } from "../harness/process-cost.ts";
import { spreadOf } from "../harness/spread.ts";
import { startNginx } from "../peers/nginx.ts";
import type { Row } from "../report.ts";

const PATH = "/api/v1/snapshot";
const CONNECTIONS = 32;
const SECONDS = 2;

const OURS = "flarewire";
const PROXIED = "flarewire behind nginx";
const PLAIN = "node:http";

/**
 * Kinds of requests. `304` sends the server's current entity tag. `framework` has a
 * `Content-Length` of 0, so that `quick-path.ts` leaves it to the framework.
 */
const REQUEST_KINDS = ["plain", "304", "gzip", "br"] as const;
type RequestKind = (typeof REQUEST_KINDS)[number] | "framework";

interface Entrant {
  readonly name: string;
  readonly asked: readonly RequestKind[];
  readonly server: BenchServer;
}

/**
 * Measures the server's CPU time per response, over all threads, for a snapshot of 20 kB over 32
 * connections that `wrk` keeps busy from the other core. Servers alternate within a round, so that
 * other load affects all of them. Prints the names of unavailable peers.
 */
export async function benchRest(rounds: number): Promise<Row[]> {
  const wrk = wrkProgram();
  const directory = mkdtempSync(join(tmpdir(), "flarewire-rest-"));
  const entrants: Entrant[] = [];
  try {
    await enterAll(entrants, join(directory, "snapshot.json"));
    // Warms up until the measured code is compiled.
    for (const { server, asked } of entrants)
      for (const one of asked) await microsPerAnswer(wrk, server, one);
    const taken = new Map<string, number[]>();
    for (let round = 0; round < rounds; round += 1) {
      for (const entrant of entrants) {
        for (const asked of entrant.asked) {
          const key = `${entrant.name} ${asked}`;
          taken.set(key, [...(taken.get(key) ?? []), await microsPerAnswer(wrk, entrant.server, asked)]);
        }
      }
    }
    return rowsOf(taken);
  } finally {
    for (const { server } of entrants) await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function enterAll(entrants: Entrant[], file: string): Promise<void> {
  const enter = async (name: string, asked: readonly RequestKind[], start: () => Promise<BenchServer>) => {
    try {
      entrants.push({ name, asked, server: await start() });
    } catch (error) {
      process.stderr.write(`  without ${name}: ${error instanceof Error ? error.message : error}\n`);
    }
  };
  const ours = await startNodeServer(new URL("gateway-rest-server.ts", import.meta.url));
  entrants.push({ name: OURS, asked: [...REQUEST_KINDS, "framework"], server: ours });
  const bytes = Buffer.from(await (await fetch(address(ours))).arrayBuffer());
  writeFileSync(file, bytes);
  const peer = (name: string) => new URL(`../peers/${name}`, import.meta.url);
  await enter(PLAIN, REQUEST_KINDS, () => startNodeServer(peer("node-http-server.ts"), [file]));
  await enter("nginx", ["plain"], () => startNginx(bytes));
  // The time of the gateway, without the proxy's.
  await enter(PROXIED, ["plain", "framework"], async () => ({
    ...(await startNginx(ours.port)),
    pid: ours.pid,
  }));
  await enter("bun", ["plain"], async () =>
    startServer(bunProgram(), [peer("bun-rest-server.ts").pathname, file]),
  );
}

const address = ({ port }: BenchServer) => `http://127.0.0.1:${port}${PATH}`;

/** Returns the load program. Throws if it is not available. */
export function wrkProgram(): DebianProgram {
  return debianProgram("wrk", "usr/bin/wrk", ["libluajit-5.1-2"]);
}

/** Returns the CPU time per response, in microseconds, while a load program asks. */
export async function microsPerAnswer(
  wrk: DebianProgram,
  server: BenchServer,
  asked: RequestKind,
): Promise<number> {
  const url = address(server);
  const script = `wrk.headers["Accept-Encoding"] = "${asked === "gzip" || asked === "br" ? asked : "identity"}"
${asked === "framework" ? 'wrk.body = ""' : ""}
`;
  const file = join(tmpdir(), `flarewire-rest-${process.pid}.lua`);
  writeFileSync(file, asked === "304" ? script + ASK_BY_TAG : script);
  const args = ["-t1", `-c${CONNECTIONS}`, `-d${SECONDS}s`, "-s", file, url];
  const [program = wrk.path, ...rest] = isPinned()
    ? ["taskset", "-c", "1", wrk.path, ...args]
    : [wrk.path, ...args];
  const before = cpuMicros(server.pid);
  const { stdout } = await promisify(execFile)(program, rest, { env: wrk.env });
  const used = cpuMicros(server.pid) - before;
  rmSync(file);
  const answers = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const wrong = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  if (!(answers > 0) || wrong > 0) throw new Error(`${url}: wrk says ${stdout}`);
  return used / answers;
}

/** Sends the previous response's tag: every response but the first after a change is a 304. */
const ASK_BY_TAG = `
local tag = nil
request = function()
  if tag then wrk.headers["If-None-Match"] = tag end
  return wrk.format()
end
response = function(status, headers) tag = headers["etag"] or headers["ETag"] or tag end
`;

function rowsOf(taken: ReadonlyMap<string, readonly number[]>): Row[] {
  const of = (name: string, asked: RequestKind = "plain") => taken.get(`${name} ${asked}`);
  const micros = [...taken].map(([key, values]): Row => {
    const { median, spreadPct, runs } = spreadOf(values);
    return {
      what: `${key}, processor time of an answer`,
      value: median,
      unit: "µs",
      aim: `median of ${runs} ± ${spreadPct.toFixed(0)} %`,
    };
  });
  const ratio = (
    what: string,
    values: readonly number[] | undefined,
    than: readonly number[] | undefined,
    aim: string,
  ) => {
    if (!values || !than) return [];
    // Compares neighboring measurements, because other load on the machine affects both.
    const { median, spreadPct } = spreadOf(values.map((value, round) => value / (than[round] ?? Number.NaN)));
    return [{ what, value: median, unit: "×", aim: `${aim}; ± ${spreadPct.toFixed(0)} %` }];
  };
  const ours = of(OURS);
  return [
    ...micros,
    ...ratio("as fast as node:http with ready bytes", of(PLAIN), ours, "≥ 0.90"),
    ...ratio("as fast as nginx with the same file", of("nginx"), ours, "≥ 0.40"),
    ...ratio("as fast as Bun's static route", of("bun"), ours, "shown"),
    ...ratio("304 as fast as 200", ours, of(OURS, "304"), "≥ 1.2"),
    ...ratio("ready gzip as fast as plain", ours, of(OURS, "gzip"), "≥ 1"),
    ...ratio("ready br as fast as plain", ours, of(OURS, "br"), "≥ 1"),
    ...ratio("time through the framework", of(OURS, "framework"), ours, "shown"),
    ...ratio("the same behind nginx", of(PROXIED, "framework"), of(PROXIED), "shown"),
    ...ratio("gzip as fast as node:http's", of(PLAIN, "gzip"), of(OURS, "gzip"), "shown"),
    ...ratio("304 as fast as node:http's", of(PLAIN, "304"), of(OURS, "304"), "shown"),
  ];
}
