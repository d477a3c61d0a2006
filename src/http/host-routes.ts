import type { FastifyInstance } from "fastify";
import { FlarewireError } from "../protocol/index.ts";
import { allowAll } from "./access/access.ts";
import { createHostCheck } from "./access/host-check.ts";
import { Refusals } from "./access/refusals.ts";
import { createRequestGuard } from "./access/request-guard.ts";
import { Visitors } from "./access/visitors.ts";
import { createCommonHeaders } from "./common-headers.ts";
import { createOrderHook } from "./connections/answer-in-order.ts";
import { completeHttpSettings } from "./http-settings.ts";
import { AllowedMethods } from "./problems/allowed-methods.ts";
import { sendProblem } from "./problems/send-problem.ts";
import { addRoutes, type HttpServerOptions } from "./server.ts";

/**
 * Adds what {@link HttpServerOptions} describes to a scope of somebody else's server, below its prefix and the base path. The error handler, the hooks and
 * the answer to unknown addresses are the scope's own; without a prefix the last is left to the host, with methods that an address does not take. Throws
 * FlarewireError `invalid-setting` when a setting is outside its bound, or when the host has a WebSocket plugin, which would answer the stream's requests itself.
 */
export async function addHostRoutes(scope: FastifyInstance, options: HttpServerOptions): Promise<void> {
  const given = completeHttpSettings(options.settings ?? {});
  if (scope.hasRequestDecorator("ws")) {
    const message =
      "the host has @fastify/websocket, which answers every WebSocket itself: give Flarewire a server of its own, with startGateway()";
    throw new FlarewireError("invalid-setting", message, { field: "plugin" });
  }
  await scope.register(
    async (own) => {
      // Where the host listens, and by which names, is its own affair.
      const settings = { ...given, basePath: own.prefix, host: undefined, allowedHosts: [] };
      const { clock, door = allowAll } = options;
      const logger = options.logger || undefined;
      const refusals = options.refusals ?? new Refusals(clock);
      const visitors = new Visitors({ settings, door, clock, logger });
      own.setErrorHandler((error, request, reply) => {
        refusals.countError(error, request.ip);
        return sendProblem(error, request, reply);
      });
      own.addHook(
        "onRequest",
        createOrderHook(({ ip }) => refusals.count("requests-ahead", ip)),
      );
      own.addHook(
        "onRequest",
        createRequestGuard(
          settings,
          createCommonHeaders(settings),
          new AllowedMethods(own),
          createHostCheck(settings),
          visitors,
        ),
      );
      if (own.prefix !== "") {
        own.setNotFoundHandler(() => {
          throw new FlarewireError("not-found", "nothing is served here");
        });
      }
      await addRoutes(own, options, settings, visitors);
    },
    { prefix: given.basePath },
  );
}
