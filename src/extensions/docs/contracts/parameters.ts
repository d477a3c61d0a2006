import type { Parameter, ParameterSet, RouteContract } from "../../../gateway/http/index.ts";
import type { ContractSchemas, JsonSchema } from "./schemas.ts";

/** A parameter of OpenAPI, reduced to the fields used here. */
export interface ParameterContract {
  readonly name: string;
  readonly in: "query" | "header" | "path";
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: Parameter["example"];
  /** Lists are written as `a,b`. */
  readonly style?: "form";
  readonly explode?: false;
  /** True for a part of the path. */
  readonly required?: true;
}

/** Describes the parameters of a route: parts of its path, its query, header fields. */
export function parametersOf(
  { params = {}, query = {}, headers = {} }: Pick<RouteContract, "params" | "query" | "headers">,
  schemas: ContractSchemas,
): readonly ParameterContract[] {
  const describe = (location: ParameterContract["in"], parameters: ParameterSet) =>
    Object.entries(parameters).map(
      ([name, { description, schema, example, cost = 0 }]): ParameterContract => {
        const form = schemas.of(schema);
        return {
          name,
          in: location,
          description: cost > 0 ? `${description} Costs ${cost} requests more.` : description,
          schema: form,
          example,
          ...(form.type === "array" ? ({ style: "form", explode: false } as const) : {}),
          ...(location === "path" ? { required: true } : {}),
        };
      },
    );
  return [...describe("path", params), ...describe("query", query), ...describe("header", headers)];
}
