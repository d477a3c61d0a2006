import { pino } from "pino";
import { expect, test } from "vitest";
import {
  type Extension,
  extension,
  gatewaySettings,
  httpFrontend,
  memoryPersistence,
  runGateway,
  systemClock,
} from "../../../src/gateway/index.ts";
import { LedMarket } from "../../examples/led-gateway.ts";

const uptime: Extension = extension({
  name: "uptime",
  settings: {},
  open: () => ({ routes: ({ app }) => void app.get("/uptime", () => ({ up: true })) }),
});

test("a program runs the gateway alone, without extensions and feeds, or with one of its own", async ({
  onTestFinished,
}) => {
  const settings = gatewaySettings({ port: 0, drainMs: 0 });
  const logger = pino({ level: "silent" });
  const start = async (extensions: readonly Extension[] | undefined) => {
    const gateway = await runGateway({
      ...{ settings, clock: systemClock, logger },
      persistence: memoryPersistence({ config: settings, clock: systemClock, logger }),
      openSource: () => ({ kind: "snapshots", source: new LedMarket() }),
      openFrontend: httpFrontend(settings),
      ...(extensions && { extensions }),
    });
    onTestFinished(() => gateway.stop());
    return async (path: string) => (await fetch(`${gateway.url}${path}`)).status;
  };
  const alone = await start(undefined);
  const paths = [
    "/api/v1/snapshot",
    "/api/v1/events",
    "/readyz",
    "/metrics",
    "/api/v1/history",
    "/",
    "/uptime",
  ];
  expect(await Promise.all(paths.map(alone))).toEqual([200, 200, 200, 200, 404, 404, 404]);
  const extended = await start([uptime]);
  expect(await Promise.all(paths.map(extended))).toEqual([200, 200, 200, 200, 404, 404, 200]);
});
