// Flarewire inside a program of your own: its REST, WebSocket, server-sent events and health below /flarewire of your Fastify
// server, beside your routes; and each flare told in process. The market is the recorded day.
//
//   npx node examples/embed.ts 3000 60      (port, and how many times faster than then; try /lately and /flarewire/api/v1/flares)

import { fastify } from "fastify";
import { createConfig, createGatewayPlugin } from "flarewire";

const [port = "3000", speed = "60"] = process.argv.slice(2);
const config = createConfig({ feed: "replay", speed: Number(speed), drain: "1s" });
const { plugin, gateway } = createGatewayPlugin(config);
const lately: string[] = [];

const server = fastify();
await server.register(plugin, { prefix: "/flarewire" });
server.get("/lately", () => lately);

// Your own lifecycle: to close the server sends Flarewire's clients away, and ends it.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close());

console.log(`listening on ${await server.listen({ port: Number(port) })}`);

// It starts with the server, so it is there only now.
const { events } = await gateway;
events.on("flare-started", ({ observed_at, data: { flare } }) => {
  lately.unshift(`${observed_at} ${flare.token.symbol} ${flare.recent_price_change} %`);
  lately.length = Math.min(lately.length, 20);
  console.log("flare-started", lately[0]);
});
