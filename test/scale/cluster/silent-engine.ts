import type { Engine } from "../../../src/scale/cluster/engine.ts";

const never = () => new Promise<never>(() => {});

/** An engine whose log is empty and which never answers, for tests that replace some of it. */
export const SILENT_ENGINE: Engine = {
  append: never,
  store: never,
  load: never,
  put: never,
  get: never,
  take: never,
  agree: never,
  facts: never,
  notify: () => {},
  onNotice: () => () => {},
  close: async () => {},
  async *read() {},
};
