import { PassThrough } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
import { loadMcpServer, type RequestApi } from "../../extensions/mcp/index.ts";
import { CLIENT_KEY_VARIABLE, keyFrom } from "../config/key-variables.ts";
import { EXIT, type ExitCode, watchShutdown } from "./shutdown.ts";
import { DEFAULT_URL, readStreamAddress } from "./stream-address.ts";
import { isBrokenPipe, say, type Terminal } from "./terminal/terminal.ts";

/** Longer than the longest wait of a tool. */
const TIMEOUT_MS = 40_000;

export function mcpHelp(): string {
  return `Usage: flarewire mcp [URL]

Serves the Model Context Protocol over standard input and output: tools with which an agent asks a
running server what flares, why, and what happened since a cursor. URL is the address of the server.
Default: ${DEFAULT_URL}

The environment variable ${CLIENT_KEY_VARIABLE} contains the key for a server that needs one.

Example of a client's configuration:
  {"mcpServers": {"flarewire": {"command": "npx", "args": ["--no", "flarewire", "mcp", "${DEFAULT_URL}"]}}}`;
}

/** Runs `flarewire mcp` until its client leaves or a signal stops it. */
export async function mcp(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const wrong: string[] = [];
  const [text = DEFAULT_URL, ...others] = args;
  if (others.length > 0 || text.startsWith("-"))
    wrong.push(`expected one URL, got ${JSON.stringify(args.join(" "))}`);
  const address = readStreamAddress(text, [], wrong);
  if (!address || wrong.length > 0) throw new FlarewireError("invalid-setting", wrong.join("; "));
  const request = requestOf(address.url, keyFrom(terminal.environment, CLIENT_KEY_VARIABLE));
  // At the end of its input, the transport would drop the requests that it has not answered.
  const input = new PassThrough();
  const left = clientLeft(terminal);
  const closed = outputClosed(terminal);
  terminal.stdin?.pipe(input, { end: false });
  const transport = new StdioServerTransport(input, terminal.stdout);
  const { createMcpServer } = await loadMcpServer();
  const shutdown = watchShutdown(process);
  try {
    const served = serveStdio(() => createMcpServer(request), {
      transport,
      onerror: (error) => {
        if (!isBrokenPipe(error)) say(terminal, `flarewire mcp: ${messageOf(error)}`);
      },
    });
    const answered = followRequests(transport);
    await Promise.race([left.then(answered), closed, shutdown.requested]);
    await served.close();
  } finally {
    shutdown.dispose();
    // An open input would keep the process alive.
    terminal.stdin?.unpipe(input).pause();
  }
  return EXIT.clean;
}

/**
 * Follows the requests of a transport. Returns a function that resolves when all have been
 * answered.
 */
function followRequests(transport: StdioServerTransport): () => Promise<void> {
  const waiting = new Set<unknown>();
  let onAnswered = () => {};
  const forget = (id: unknown) => {
    if (waiting.delete(id)) onAnswered();
  };
  const { onmessage } = transport;
  transport.onmessage = (message) => {
    if ("method" in message && "id" in message) waiting.add(message.id);
    else if ("method" in message && message.method === "notifications/cancelled")
      forget(message.params?.requestId);
    onmessage?.(message);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (!("method" in message)) forget(message.id);
  };
  return () =>
    new Promise((resolve) => {
      onAnswered = () => {
        if (waiting.size === 0) resolve();
      };
      onAnswered();
    });
}

/** Resolves when the client has closed the input. */
function clientLeft({ stdin }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    const leave = () => resolve();
    stdin?.once("end", leave).once("close", leave);
  });
}

/** Resolves when the client no longer reads the output. */
function outputClosed({ stdout }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    const leave = () => resolve();
    stdout.once("close", leave).once("error", leave);
  });
}

function requestOf(base: URL, key: string | undefined): RequestApi {
  const root = base.href.replace(/\/$/, "");
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return async (path, signal) => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(`${root}${path}`, { headers, signal: limited }).catch((error: unknown) => {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      throw new Error(`${root} cannot be reached: ${messageOf(cause)}`);
    });
    const header = (name: string) => response.headers.get(name) ?? undefined;
    return { status: response.status, header, text: await response.text() };
  };
}
