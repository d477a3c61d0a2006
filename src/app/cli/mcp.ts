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
  {"mcpServers": {"flarewire": {"command": "npx", "args": ["flarewire", "mcp", "${DEFAULT_URL}"]}}}`;
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
  const transport = new StdioServerTransport(terminal.stdin, terminal.stdout);
  const { createMcpServer } = await loadMcpServer();
  const shutdown = watchShutdown(process);
  try {
    const served = serveStdio(() => createMcpServer(request), {
      transport,
      onerror: (error) => {
        if (!isBrokenPipe(error)) say(terminal, `flarewire mcp: ${messageOf(error)}`);
      },
    });
    await Promise.race([clientLeft(terminal), shutdown.requested]);
    await served.close();
  } finally {
    shutdown.dispose();
  }
  return EXIT.clean;
}

/** Resolves when the client has closed the input, or no longer reads the output. */
function clientLeft({ stdin, stdout }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    const leave = () => resolve();
    stdin?.once("end", leave).once("close", leave);
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
