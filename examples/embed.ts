// Flarewire inside your own program: its REST, WebSocket, server-sent events and health below
// /flarewire of your Fastify server, next to your routes, and each flare as an event in process.
// The market is the recorded day.
//
//   npx node examples/embed.ts 3000 60
//
// The arguments are port and speed. Then open /lately and /flarewire/api/v1/flares.

import { fastify } from "fastify";
import { createConfig, createGatewayPlugin } from "flarewire";

const [port = "3000", speed = "60"] = process.argv.slice(2);
const config = createConfig({ feed: "replay", speed: Number(speed), drain: "1s" });
const { plugin, gateway } = createGatewayPlugin(config);
const lately: string[] = [];

const server = fastify();
await server.register(plugin, { prefix: "/flarewire" });
server.get("/lately", () => lately);

// Closing the server disconnects Flarewire's clients and stops Flarewire.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close());

console.log(`listening on ${await server.listen({ port: Number(port) })}`);

// Available only now, because Flarewire starts with the server.
const { events } = await gateway;
events.on("flare-started", ({ observed_at, data: { flare } }) => {
  lately.unshift(`${observed_at} ${flare.token.symbol} ${flare.recent_price_change} % in 5 min`);
  lately.length = Math.min(lately.length, 20);
  console.log("flare-started", lately[0]);
});
