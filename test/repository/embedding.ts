import { createConfig, startGateway } from "flarewire";

const gateway = await startGateway(createConfig({ port: 0 }));
gateway.events.on("flare-started", ({ data }) => console.log(data.flare.token.symbol, data.why?.score));
