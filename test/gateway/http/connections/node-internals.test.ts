import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import {
  hasNoHead,
  isResponding,
  leaveHttp,
  missingInternals,
  releaseInflater,
  unsentBytes,
} from "../../../../src/gateway/http/connections/node-internals.ts";

test("this version of Node and ws has every internal part that saves time or memory", () => {
  expect(missingInternals()).toEqual([]);
});

test("a missing part is named, and its users use the fallback", () => {
  const socket = new Socket();
  const response = new ServerResponse(new IncomingMessage(socket));
  const get = vi.spyOn(Reflect, "get").mockReturnValue(undefined);
  const seen = [hasNoHead(response), unsentBytes(socket), isResponding(socket), leaveHttp(response.req)];
  const missing = missingInternals();
  get.mockRestore();
  expect(seen).toEqual([false, undefined, false, false]);
  expect(missing).toEqual(["head", "response"]);
});

test("a WebSocket without an inflater stays unchanged", () => {
  const socket: WebSocket = Reflect.construct(WebSocket, [null, undefined, {}]);
  expect(() => releaseInflater(socket)).not.toThrow();
});
