import type { Logger } from "pino";
import type { Config } from "../../../src/app/config/config.ts";
import { createOpenStore } from "../../../src/app/data/file-persistence.ts";
import type { Clock } from "../../../src/base/lib/time/clock.ts";
import { allowAll, ConnectionLimiter } from "../../../src/gateway/http/index.ts";
import type { Extension, ExtensionContext, OpenExtension } from "../../../src/gateway/start/extension.ts";
import { createHubUnderTest, FRESH, INFO } from "../../gateway/hub/hub-fixture.ts";

type ContextParts = Partial<Omit<ExtensionContext, "settings" | "openStore">> & {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The source, on which the names of its files depend. */
  readonly identity: { readonly name: string };
};

/** Opens an extension as a gateway does. The hub, its log and its head are new unless given. */
export async function openExtension<P>(
  extension: Extension<object & Extension["settings"], P>,
  { config, ...parts }: ContextParts,
): Promise<OpenExtension<P>> {
  const { hub, log, head } = createHubUnderTest();
  const context = {
    ...{ settings: config, hub, log, head, policy: allowAll, tasks: undefined },
    limiter: new ConnectionLimiter(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
    ...{ info: () => INFO, freshness: () => FRESH, of: () => undefined, ...parts },
    openStore: createOpenStore({ config, ...parts }),
  };
  const opened = await extension.open(context as never);
  if (!opened) throw new Error(`the extension ${extension.name} is off`);
  return opened;
}
