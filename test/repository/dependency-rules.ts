/** Which parts and packages each part may import. Every part may import `lib`. */
export const ALLOWED: Record<string, { rooms: readonly string[]; packages: readonly string[] }> = {
  lib: { rooms: [], packages: ["node:"] },
  model: { rooms: [], packages: ["zod"] },
  market: { rooms: [], packages: ["zod"] },
  protocol: { rooms: ["model"], packages: ["zod"] },
  trend: { rooms: ["market", "model"], packages: ["zod", "uuid"] },
  feed: { rooms: ["market"], packages: ["node:", "zod", "viem", "ws"] },
  source: { rooms: ["trend", "feed", "model", "protocol"], packages: ["node:", "zod", "ws"] },
  log: { rooms: ["protocol"], packages: ["node:"] },
  cluster: { rooms: ["protocol"], packages: ["node:", "ioredis"] },
  hub: { rooms: ["log", "protocol"], packages: ["node:", "zod"] },
  keys: { rooms: ["protocol"], packages: ["node:", "zod"] },
  alerts: { rooms: ["hub", "log", "protocol", "model"], packages: ["node:", "zod", "pino", "ipaddr.js"] },
  history: { rooms: ["hub", "log", "protocol", "model"], packages: ["node:"] },
  metrics: {
    rooms: ["alerts", "feed", "hub", "log", "protocol", "source"],
    packages: ["node:", "prom-client"],
  },
  http: {
    rooms: ["hub", "log", "keys", "protocol", "model"],
    packages: ["node:", "zod", "fastify", "@fastify/websocket", "ws", "ipaddr.js"],
  },
  workers: {
    rooms: ["http", "hub", "log", "keys", "metrics", "protocol", "source"],
    packages: ["node:", "pino"],
  },
  client: { rooms: ["protocol"], packages: [] },
  widget: { rooms: ["client", "model"], packages: ["vite"] },
  dashboard: {
    rooms: ["client", "model"],
    packages: ["preact", "preact/hooks", "uplot", "uplot/dist/uPlot.min.css", "vite"],
  },
};
