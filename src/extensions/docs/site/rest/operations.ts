import {
  DOCUMENTS,
  ENDPOINTS,
  EVENTS_ENDPOINT,
  HISTORY_ENDPOINTS,
  PRODUCER_PATH,
  STREAM_PATH,
  TICKETS_ENDPOINT,
} from "../../../../gateway/http/endpoints.ts";
import { METRICS_PATH } from "../../../../gateway/http/metrics-route.ts";
import type { OpenApiDocument, OperationContract } from "../../contracts/openapi.ts";

/**
 * Every path of the API contract except the documents, each with its page, in the contract's order.
 */
export const OPERATIONS: readonly OperationName[] = Object.entries({
  ...paths(ENDPOINTS),
  ...paths(HISTORY_ENDPOINTS),
  events: EVENTS_ENDPOINT.path,
  stream: STREAM_PATH,
  producer: PRODUCER_PATH,
  tickets: TICKETS_ENDPOINT.path,
  metrics: METRICS_PATH,
}).map(([name, path]) => {
  const method = path === TICKETS_ENDPOINT.path ? "POST" : "GET";
  return { name, path, method, page: `${DOCUMENTS.docs.path}/rest/${method.toLowerCase()}-${name}` };
});

function paths(endpoints: Readonly<Record<string, { readonly path: string }>>) {
  return Object.fromEntries(Object.entries(endpoints).map(([name, { path }]) => [name, path]));
}

interface OperationName {
  readonly name: string;
  readonly path: string;
  readonly method: "GET" | "POST";
  /** Address of its page, relative to the base path. */
  readonly page: string;
}

export interface Operation extends OperationName {
  readonly contract: OperationContract;
}

export function operationsOf({ paths: described }: OpenApiDocument): readonly Operation[] {
  return OPERATIONS.flatMap((operation): readonly Operation[] => {
    const contract = described[operation.path]?.[operation.method === "GET" ? "get" : "post"];
    return contract ? [{ ...operation, contract }] : [];
  });
}
