import type { FastifyInstance } from "fastify";
import { FlarewireError } from "../../base/protocol/index.ts";
import { allowAll } from "./access/access.ts";
import { createHostCheck } from "./access/host-check.ts";
import { Refusals } from "./access/refusals.ts";
import { addGuard } from "./access/request-guard.ts";
import { Visitors } from "./access/visitors.ts";
import { createCommonHeaders } from "./common-headers.ts";
import { completeHttpSettings } from "./http-settings.ts";
import { sendProblem } from "./problems/send-problem.ts";
import { addRoutes, type HttpServerOptions } from "./server.ts";

/**
 * Adds the routes of {@link HttpServerOptions} to a host's scope. Without a prefix, the host
 * handles unknown paths. Rejects with `invalid-setting` if the host has a WebSocket plugin, which
 * would take the stream's requests.
 */
export async function addHostRoutes(scope: FastifyInstance, options: HttpServerOptions): Promise<void> {
  const given = completeHttpSettings(options.settings ?? {});
  if (scope.hasRequestDecorator("ws")) {
    const message =
      "the host has @fastify/websocket, which takes every WebSocket; run Flarewire on its own server with startGateway()";
    throw new FlarewireError("invalid-setting", message, { field: "plugin" });
  }
  await scope.register(
    async (own) => {
      // The host decides where it listens and under which names.
      const settings = { ...given, basePath: own.prefix, host: undefined, allowedHosts: [] };
      const { clock, policy = allowAll, answerUnknown } = options;
      const logger = options.logger || undefined;
      const refusals = options.refusals ?? new Refusals(clock);
      const visitors = new Visitors({ settings, policy, clock, logger });
      options.responses?.watch(own);
      own.setErrorHandler((error, request, reply) => {
        refusals.note(error, request, policy);
        return sendProblem(error, request, reply);
      });
      const common = createCommonHeaders(settings);
      const checkHost = createHostCheck(settings);
      addGuard(own, { settings, policy, common, checkHost, visitors, refusals, answerUnknown });
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
