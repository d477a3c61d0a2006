import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Waiters } from "../support/waiters.ts";

/** A bot's request. */
export interface ChatRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly atMs: number;
}

/** The chat's response. */
interface ChatAnswer {
  readonly status: number;
  readonly body?: unknown;
}

/** A local chat service with scripted responses; after them it repeats `last`. */
export async function startChatServer(last: ChatAnswer, ...answers: readonly ChatAnswer[]) {
  const requests: ChatRequest[] = [];
  const left = [...answers];
  const waiters = new Waiters(() => requests.slice(-3));
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as ChatRequest["body"];
    requests.push({ path: `${request.method} ${request.url}`, body, atMs: performance.now() });
    const answer = left.shift() ?? last;
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(answer.body === undefined ? "" : JSON.stringify(answer.body));
    waiters.look();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Resolves with all requests once there are this many. */
    requests: async (count: number): Promise<readonly ChatRequest[]> => {
      await waiters.until(() => requests.length >= count, `${count} requests`);
      return requests;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
