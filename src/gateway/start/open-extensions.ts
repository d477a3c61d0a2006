import type { SettingTable } from "../../base/settings/index.ts";
import type { RouteScope } from "../http/index.ts";
import type { Metrics } from "../metrics/metric-table.ts";
import type { Extension, ExtensionContext, OpenExtension } from "./extension.ts";

/** The extensions of one gateway, opened. */
export interface OpenExtensions {
  readonly opened: readonly OpenExtension[];
  /** Their metrics together. */
  readonly metrics: Metrics;
  /** Adds their routes, in the order of the list. */
  routes(scope: RouteScope): Promise<void>;
  /** Starts them in order. */
  start(signal: AbortSignal): void;
  /** Finishes their work, in reverse order. */
  finish(): Promise<void>;
  /** Closes them in reverse order. */
  close(): Promise<void>;
}

/**
 * Opens extensions in the order of the list. If one rejects, closes those that are open, and
 * rejects with its error.
 */
export async function openExtensions(
  extensions: readonly Extension[],
  context: Omit<ExtensionContext, "of">,
): Promise<OpenExtensions> {
  const byExtension = new Map<Extension, OpenExtension>();
  const inReverse = () => [...byExtension.values()].toReversed();
  const close = async () => {
    for (const one of inReverse()) await one.close?.();
  };
  const of = <P>(other: Extension<SettingTable, P>) => byExtension.get(other)?.provides as P | undefined;
  try {
    for (const extension of extensions) {
      const one = await extension.open({ ...context, of });
      if (one) byExtension.set(extension, one);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const opened = [...byExtension.values()];
  return {
    opened,
    metrics: Object.assign({}, ...opened.map(({ metrics = {} }) => metrics)),
    routes: async (scope) => {
      for (const one of opened) await one.routes?.(scope);
    },
    start: (signal) => {
      for (const one of opened) one.start?.(signal);
    },
    finish: async () => {
      for (const one of inReverse()) await one.finish?.();
    },
    close,
  };
}
