import type { Explanation } from "../model/index.ts";
import type { HistoryQuery, HistoryStore, StoredRecord } from "./history-store.ts";

/** A request for stored flares, which may go to another process. */
export type HistoryRequest =
  | { readonly kind: "find"; readonly id: string }
  | { readonly kind: "started"; readonly id: string }
  | { readonly kind: "page"; readonly query: HistoryQuery };

/** Reads the history, in this process or that of the store. */
export interface HistoryReader {
  /** Changes whenever an answer may change; `undefined` if unknown here. */
  readonly version: string | undefined;
  find(id: string): Promise<StoredRecord | undefined>;
  /** Returns why a running flare started; `null` or `undefined` if that is not stored. */
  started(id: string): Promise<Explanation | null | undefined>;
  page(query: HistoryQuery): Promise<readonly StoredRecord[]>;
}

/** Answers the request of another process. */
export async function answerHistory(reader: HistoryReader, request: HistoryRequest): Promise<unknown> {
  switch (request.kind) {
    case "find":
      return await reader.find(request.id);
    case "started":
      return await reader.started(request.id);
    case "page":
      return await reader.page(request.query);
  }
}

export function createHistoryReader(store: HistoryStore): HistoryReader {
  return {
    get version() {
      return store.cursor ?? "";
    },
    find: async (id) => store.find(id),
    started: async (id) => store.started(id),
    page: async (query) => store.page(query),
  };
}

/** Reads a history by requests to the process that has it. */
export function createRemoteHistory(ask: (request: HistoryRequest) => Promise<unknown>): HistoryReader {
  return {
    version: undefined,
    find: async (id) => (await ask({ kind: "find", id })) as StoredRecord | undefined,
    started: async (id) => (await ask({ kind: "started", id })) as Explanation | null | undefined,
    page: async (query) => (await ask({ kind: "page", query })) as readonly StoredRecord[],
  };
}
