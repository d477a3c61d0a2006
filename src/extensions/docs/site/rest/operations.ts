import type { RouteContract } from "../../../../gateway/http/index.ts";
import { inOrder, type OpenApiDocument, type OperationContract } from "../../contracts/openapi.ts";
import { DOCUMENTS } from "../documents.ts";

/** Address of the operations' pages, relative to the base path, without their names. */
export const OPERATION_PAGES = `${DOCUMENTS.docs.path}/rest/`;

/** A route with a page of its own. */
export interface Operation {
  readonly route: RouteContract;
  /** Address of its page, relative to the base path. */
  readonly page: string;
}

export interface DescribedOperation extends Operation {
  readonly contract: OperationContract;
}

/** Returns every route of the API except the documents, in their order. */
export function operationsIn(contracts: Iterable<RouteContract>): readonly Operation[] {
  return inOrder(contracts)
    .filter(({ tag }) => tag !== "documents")
    .map((route) => ({ route, page: `${OPERATION_PAGES}${route.method.toLowerCase()}-${route.name}` }));
}

/** Adds what the OpenAPI document says of each operation. */
export function operationsOf(
  { paths }: OpenApiDocument,
  contracts: Iterable<RouteContract>,
): readonly DescribedOperation[] {
  return operationsIn(contracts).flatMap((operation) => {
    const { path, method } = operation.route;
    const contract = paths[path]?.[method === "GET" ? "get" : "post"];
    return contract ? [{ ...operation, contract }] : [];
  });
}
