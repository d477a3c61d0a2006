import { EXTENSIONS } from "../../../src/app/extensions.ts";
import { alerts, createAlertsExtension } from "../../../src/extensions/alerts/index.ts";
import type { Extension } from "../../../src/gateway/start/extension.ts";

/** Returns all extensions, with push services on this machine allowed, without TLS. */
export function withLocalPush(): readonly Extension[] {
  const local = createAlertsExtension({ isLocalPush: true });
  return EXTENSIONS.map((extension: Extension) => (extension === alerts ? local : extension));
}
