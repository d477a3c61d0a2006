import { expect, test } from "vitest";
import { connectionLimits } from "../../../src/app/server/open-server.ts";

const CONFIG = { maxSockets: 10_000, maxSocketsPerIp: 256 };

function limitsAt(limit: number | undefined, config = CONFIG) {
  const warnings: string[] = [];
  const files = limit === undefined ? undefined : { limit, open: 40 };
  return { ...connectionLimits(config, files, (message) => warnings.push(message)), warnings };
}

test("with enough open files, the limits have room for all streams and other requests, without a warning", () => {
  for (const limit of [12_000, Number.POSITIVE_INFINITY, undefined])
    expect(limitsAt(limit)).toEqual({
      maxSockets: 10_000,
      maxConnections: 11_024,
      maxConnectionsPerAddress: 512,
      warnings: [],
    });
});

test("with few open files, the limit of streams is lower and leaves connections for requests; a warning names all bounds", () => {
  const { warnings, ...limits } = limitsAt(1_024);
  expect(limits).toEqual({ maxSockets: 805, maxConnections: 920, maxConnectionsPerAddress: 460 });
  expect(warnings).toEqual([
    "maxSockets 10000 needs 11128 open files and the limit is 1024, so at most 805 streams and 920 connections are accepted; raise the limit (ulimit -n, LimitNOFILE) or lower --max-sockets",
  ]);
});

test("the limit of streams never exceeds the setting, and never reaches 0", () => {
  expect(limitsAt(1_024, { maxSockets: 100, maxSocketsPerIp: 256 }).maxSockets).toBe(100);
  expect(limitsAt(64)).toMatchObject({ maxSockets: 1, maxConnections: 1 });
});
