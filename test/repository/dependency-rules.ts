/** Which parts and packages each part may import. Every part may import `lib`. */
export const ALLOWED: Record<string, { parts: readonly string[]; packages: readonly string[] }> = {
  build: { parts: [], packages: ["node:", "rolldown", "zod"] },
  lib: { parts: [], packages: ["node:"] },
  release: { parts: [], packages: [] },
  model: { parts: [], packages: ["zod"] },
  market: { parts: [], packages: ["zod"] },
  protocol: { parts: ["model"], packages: ["zod"] },
  trend: { parts: ["market", "model"], packages: ["zod", "uuid"] },
  feed: { parts: ["market"], packages: ["node:", "zod", "viem", "ws"] },
  source: { parts: ["trend", "feed", "model", "protocol"], packages: ["node:", "zod", "ws"] },
  log: { parts: ["protocol"], packages: ["node:"] },
  cluster: { parts: ["protocol"], packages: ["node:", "ioredis", "zod"] },
  hub: { parts: ["log", "protocol"], packages: ["node:", "zod"] },
  keys: { parts: ["protocol"], packages: ["node:", "zod", "jose"] },
  alerts: {
    parts: ["hub", "log", "protocol", "model"],
    packages: ["node:", "zod", "jose", "pino", "ipaddr.js", "mqtt"],
  },
  history: { parts: ["hub", "log", "protocol", "model"], packages: ["node:"] },
  metrics: {
    parts: ["alerts", "feed", "hub", "log", "protocol", "source"],
    packages: ["node:", "prom-client"],
  },
  http: {
    parts: ["history", "hub", "log", "keys", "protocol", "model"],
    packages: ["node:", "zod", "fastify", "@fastify/websocket", "ws", "ipaddr.js", "@resvg/resvg-wasm"],
  },
  workers: {
    parts: ["history", "http", "hub", "log", "keys", "metrics", "protocol", "source"],
    packages: ["node:", "pino"],
  },
  mcp: { parts: ["protocol", "model"], packages: ["zod", "fastify", "@modelcontextprotocol/server"] },
  client: { parts: ["model", "protocol"], packages: [] },
  widget: { parts: ["client", "model"], packages: ["vite"] },
  dashboard: {
    parts: ["client", "model"],
    packages: ["preact", "preact/hooks", "uplot", "uplot/dist/uPlot.min.css", "vite"],
  },
};
