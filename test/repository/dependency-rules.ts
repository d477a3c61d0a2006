/** The packages of src, and which others each may import. `app` and the entry points see all. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  base: [],
  engine: ["base"],
  gateway: ["base"],
  feeds: ["base", "gateway"],
  extensions: ["base", "gateway"],
  scale: ["base", "gateway"],
  clients: ["base"],
  app: ["base", "engine", "gateway", "feeds", "extensions", "scale", "clients"],
};

/** The extensions that may import others. */
export const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  permalinks: ["history", "pages", "docs"],
  docs: ["pages"],
};

/** Which npm packages each folder may import. The longest matching folder counts. */
export const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  "app/": ["node:", "zod", "pino", "fastify", "ioredis", "@modelcontextprotocol/server"],
  "app/build/": ["node:", "rolldown", "zod"],
  "base/lib/": ["node:"],
  "base/market/": ["zod"],
  "base/model/": ["zod"],
  "base/protocol/": ["zod"],
  "base/settings/": ["node:", "zod"],
  "clients/dashboard/": ["@preact/signals", "preact", "preact/hooks", "preact-render-to-string", "vite"],
  "clients/sdk/": [],
  "clients/text/": [],
  "clients/widget/": ["vite"],
  "engine/": ["zod", "uuid"],
  "extensions/access/": ["zod", "fastify"],
  "extensions/alerts/": ["node:", "zod", "fastify", "jose", "pino", "ipaddr.js", "mqtt"],
  "extensions/docs/": ["node:", "zod", "fastify"],
  "extensions/history/": ["node:", "zod", "fastify", "pino"],
  "extensions/mcp/": ["node:", "zod", "fastify", "@modelcontextprotocol/server"],
  "extensions/odds/": [],
  "extensions/pages/": ["node:", "fastify"],
  "extensions/pairlist/": ["node:", "zod", "fastify", "ws"],
  "extensions/permalinks/": ["node:", "fastify", "@resvg/resvg-wasm"],
  "feeds/": ["node:", "zod", "ox", "ws", "pino"],
  "gateway/": [],
  "gateway/hub/": ["node:", "zod"],
  "gateway/http/": ["node:", "zod", "fastify", "@fastify/websocket", "ws", "ipaddr.js"],
  "gateway/keys/": ["node:", "zod", "jose"],
  "gateway/log/": ["node:"],
  "gateway/metrics/": ["node:"],
  "gateway/persistence/": ["node:", "zod", "pino"],
  "gateway/settings/": ["node:", "zod"],
  "gateway/source/": ["node:", "zod"],
  "gateway/start/": ["node:", "fastify", "pino", "eventemitter3"],
  "scale/": ["node:", "ioredis", "zod", "pino", "ws"],
};
