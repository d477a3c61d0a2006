import net, { type NetConnectOpts } from "node:net";

/** Opens every connection of this process from the address in CALL_FROM. */
const { createConnection } = net;
const localAddress = process.env.CALL_FROM;
Object.assign(net, {
  createConnection: (options: NetConnectOpts) => createConnection({ ...options, localAddress }),
});
