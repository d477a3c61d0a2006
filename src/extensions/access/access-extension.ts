import { extension } from "../../gateway/start/index.ts";
import { addMeRoute } from "./me-route.ts";
import { addTicketsRoute } from "./tickets-route.ts";

/** Serves each visitor's plan, channels, limits and use of them, and tickets. */
export const access = extension({
  name: "access",
  settings: {},
  open: (context) => ({
    routes: async (scope) => {
      const { policy, settings } = context;
      addMeRoute(scope, context);
      await addTicketsRoute(scope.app, { policy, allowedOrigins: settings.allowedOrigins });
    },
  }),
});
