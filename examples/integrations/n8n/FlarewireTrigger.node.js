// A trigger node for n8n: runs the workflow for each flare that starts, surges or finishes. n8n
// stores the cursor with the workflow: after a restart the node continues there, and what happened
// in between arrives late instead of never.

const EVENTS = [
  { name: "Flare Started", value: "flare-started" },
  { name: "Flare Surged", value: "flare-surged" },
  { name: "Flare Finished", value: "flare-finished" },
];
const GROUPS = {
  BSC: "flares",
  Exchanges: "flares.exchange",
  Polygon: "flares.matic",
  Avalanche: "flares.avalanche",
};
const CHANNELS = Object.entries(GROUPS).flatMap(([group, prefix]) => [
  { name: `${group}, at Once`, value: `${prefix}.pro` },
  { name: `${group}, After 5 Minutes Without a Canary`, value: `${prefix}.free` },
]);

class FlarewireTrigger {
  description = {
    displayName: "Flarewire Trigger",
    name: "flarewireTrigger",
    group: ["trigger"],
    version: 1,
    subtitle: '={{$parameter["event"]}}',
    description: "Runs when a token starts to flare, surges again, or finishes",
    defaults: { name: "Flarewire Trigger" },
    inputs: [],
    outputs: ["main"],
    credentials: [{ name: "flarewireApi", required: true }],
    properties: [
      { displayName: "Event", name: "event", type: "options", options: EVENTS, default: "flare-started" },
      { displayName: "Flares", name: "channel", type: "options", options: CHANNELS, default: "flares.pro" },
    ],
  };

  async trigger() {
    const { connect } = await import("@flarewire/client");
    const { url, key } = await this.getCredentials("flarewireApi");
    const name = this.getNodeParameter("event");
    const channel = this.getNodeParameter("channel");
    const source = `${name} ${channel} ${url}`;
    const stored = this.getWorkflowStaticData("node");
    // A test run in the editor shows the next event, and does not store where it was.
    const isTest = this.getMode() === "manual";
    const after = !isTest && stored.source === source ? stored.cursor : undefined;
    const stream = connect(url, {
      channels: [channel],
      filter: { names: [name] },
      ...(key ? { key } : {}),
      ...(after === undefined ? {} : { after }),
    });
    const follow = async () => {
      for await (const event of stream) {
        // Before the run, with which n8n stores it.
        if (!isTest) Object.assign(stored, { source, cursor: event.cursor });
        if (event.name === "reset") {
          if (event.lost !== 0) this.logger.warn(`missed ${event.lost ?? "some"} events: ${event.reason}`);
          continue;
        }
        const { flare, why, cause } = event.data;
        const item = {
          event: name,
          flare,
          cause: cause ?? null,
          why: why?.text ?? null,
          cursor: event.cursor,
        };
        this.emit([this.helpers.returnJsonArray([item])]);
      }
    };
    const followed = follow().catch((error) => this.emitError(error));
    return {
      closeFunction: async () => {
        stream.close();
        await followed;
      },
    };
  }
}

module.exports = { FlarewireTrigger };
