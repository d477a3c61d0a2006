import { openControl, sayReady } from "../harness/control-port.ts";
import { readMarket } from "../harness/market-file.ts";
import { type Load, messageText, uniformEvents } from "../harness/uniform-events.ts";

/** A peer's function that sends each text to all clients. Returns the number of clients. */
export type Broadcast = (texts: readonly string[]) => number;

/** Creates the texts before the measurement, so that a peer's cost is its sending alone. */
function textsOf(load: Load): readonly (readonly string[])[] {
  const batches =
    "market" in load ? readMarket(load.market).batches : [uniformEvents(load.events, load.bytes)];
  return batches.map((events) => events.map(messageText));
}

/** Lets the bench drive a peer that listens on `port`. `monotonicNs`: see openControl. */
export async function serveBroadcast(
  port: number,
  broadcast: Broadcast,
  monotonicNs?: () => bigint,
): Promise<void> {
  let batches: readonly (readonly string[])[] = [];
  let next = 0;
  const control = await openControl(
    {
      publish() {
        const texts = batches[next++ % batches.length] ?? [];
        return broadcast(texts) * texts.length;
      },
      configure(order) {
        next = 0;
        batches = textsOf(order as Load);
      },
    },
    monotonicNs,
  );
  sayReady(port, control);
}
