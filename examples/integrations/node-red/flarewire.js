// Nodes for Node-RED: "flare started", "flare surged" and "flare finished". Each sends one message
// per event. A node stores the cursor of its last message in the user directory: after a restart or a deploy it
// continues there, and what happened in between arrives late instead of never.

const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

module.exports = (RED) => {
  function Server(config) {
    RED.nodes.createNode(this, config);
    this.url = config.url;
  }
  RED.nodes.registerType("flarewire-server", Server, { credentials: { key: { type: "password" } } });

  for (const name of ["flare-started", "flare-surged", "flare-finished"]) {
    function Trigger(config) {
      RED.nodes.createNode(this, config);
      const server = RED.nodes.getNode(config.server);
      if (!server) return this.status({ fill: "grey", shape: "ring", text: "no server" });
      const closing = new AbortController();
      const source = { url: server.url, key: server.credentials?.key, channel: config.channel, name };
      const position = createPosition(join(RED.settings.userDir, "flarewire"), this.id, source);
      const followed = follow(this, source, position, closing.signal).catch((error) => {
        this.status({ fill: "red", shape: "dot", text: "stopped" });
        this.error(error.message);
      });
      this.on("close", async (done) => {
        closing.abort();
        await followed;
        done();
      });
    }
    RED.nodes.registerType(`flarewire-${name}`, Trigger);
  }
};

/** Sends each event of the name until the signal aborts. Rejects if the server refuses the node. */
async function follow(node, { url, key, channel, name }, position, signal) {
  const { connect } = await import("@flarewire/client");
  const after = position.read();
  const stream = connect(url, {
    channels: [channel],
    filter: { names: [name] },
    signal,
    ...(key ? { key } : {}),
    ...(after === undefined ? {} : { after }),
  });
  stream.on("connection", ({ state, reason }) => {
    const look = state === "live" ? { fill: "green", shape: "dot" } : { fill: "yellow", shape: "ring" };
    node.status({ ...look, text: state === "live" ? "connected" : reason || state });
  });
  for await (const event of stream) {
    if (event.name === "reset") {
      if (event.lost !== 0) node.warn(`missed ${event.lost ?? "some"} events: ${event.reason}`);
    } else {
      const { flare, why, cause } = event.data;
      node.send({ topic: name, payload: flare, cause, why: why?.text, cursor: event.cursor });
    }
    // After the message: one that a crash interrupts is sent again.
    position.write(event.cursor);
  }
}

/** A cursor in a file of its own. It belongs to a source: another one begins at its present. */
function createPosition(folder, id, { url, channel, name }) {
  const file = join(folder, `${id}.json`);
  const source = `${name} ${channel} ${url}`;
  return {
    read() {
      try {
        const stored = JSON.parse(readFileSync(file, "utf8"));
        return stored.source === source ? stored.cursor : undefined;
      } catch {
        return undefined;
      }
    },
    write(cursor) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(`${file}.new`, JSON.stringify({ source, cursor }));
      renameSync(`${file}.new`, file);
    },
  };
}
