import { z } from "zod";
import * as model from "../../../base/model/index.ts";
import * as protocol from "../../../base/protocol/index.ts";
import * as changes from "../../../base/protocol/view/change-schema.ts";
import { type RouteContract, responses } from "../../../gateway/http/index.ts";

/** The schemas of the API under their names in the code, as components that refer to each other. */

/** A JSON Schema, reduced to the keywords used here. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** The dialects of OpenAPI 3.1 and AsyncAPI 3. */
type Dialect = "draft-2020-12" | "draft-7";

const COMPONENTS = "#/components/schemas/";

/** Names that differ in the contract, for readability. */
const RENAMED: Readonly<Record<string, string>> = {
  AnyFlares: "Flares",
  ChainChartItem: "MaticChartItem",
  ChangeSchema: "Change",
  ChannelSchema: "Channel",
  CursorText: "Cursor",
  Flares: "BscFlares",
  ViewSchema: "View",
};

/** Exports that are another name for a schema. */
const ALIASES: readonly string[] = ["TradeCount"];

/** Events that may be reported as missed; see the hub's `conflate.ts`. */
const MISSED_NAMES = [...protocol.LASTING_EVENTS];

export const EVENT_SCHEMAS: Readonly<Record<protocol.EventName, string>> = Object.fromEntries(
  protocol.EVENT_NAMES.map((name) => [name, `${pascal(name)}Message`]),
) as Record<protocol.EventName, string>;

export function refTo(name: string): JsonSchema {
  return { $ref: `${COMPONENTS}${name}` };
}

/** The schemas of a document. */
export interface ContractSchemas {
  /** All named schemas. Objects are open, except commands and filters (W6). */
  readonly named: Readonly<Record<string, JsonSchema>>;
  /** Returns a reference to a named schema, or the schema itself, which refers to named ones. */
  of(schema: z.ZodType): JsonSchema;
}

/**
 * Converts the schemas of the API and of the bodies in `contracts`. A body's schema has the name of
 * its `id`; without one, it has no name.
 */
export function createSchemas(target: Dialect, contracts: readonly RouteContract[] = []): ContractSchemas {
  const names = new Map<z.core.$ZodType, string>();
  for (const [exported, schema] of Object.entries({
    ...model,
    ...protocol,
    ...changes,
    ...responses,
    ...eventMessages(),
  })) {
    if (!(schema instanceof z.ZodType) || ALIASES.includes(exported)) continue;
    names.set(schema, RENAMED[exported] ?? exported);
  }
  for (const { responses: all } of contracts)
    for (const { content = {} } of Object.values(all))
      for (const { schema } of Object.values(content)) {
        const id = schema.meta()?.id;
        if (id !== undefined) names.set(schema, id);
      }
  const named = convertNamed(target, names);
  return {
    named,
    of: (schema) => {
      const name = names.get(schema);
      if (name !== undefined) return refTo(name);
      const { $schema: _dialect, ...inline } = z.toJSONSchema(schema, {
        io: "input",
        target,
        override: ({ zodSchema, jsonSchema }) => {
          const inner = names.get(zodSchema);
          if (inner === undefined) return omitOwnBounds(jsonSchema);
          for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
          Object.assign(jsonSchema, refTo(inner));
        },
      });
      return inline as JsonSchema;
    },
  };
}

/** Omits the bounds of whole numbers in JavaScript, which say nothing about the value. */
function omitOwnBounds(schema: { minimum?: number; maximum?: number }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

function convertNamed(
  target: Dialect,
  names: ReadonlyMap<z.core.$ZodType, string>,
): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, {
    io: "input",
    target,
    uri: (id) => `${COMPONENTS}${id}`,
    override: ({ jsonSchema }) => omitOwnBounds(jsonSchema),
  });
  const schemas: Record<string, JsonSchema> = {};
  for (const [name, { $schema: _dialect, $id: _uri, id: _id, ...schema }] of Object.entries(made.schemas)) {
    schemas[name] = schema as JsonSchema;
  }
  const items = [
    "BscChartItem",
    "ExchangeChartItem",
    "MaticChartItem",
    "BscLeaderboardEntry",
    "ExchangeLeaderboardEntry",
    "ChainLeaderboardEntry",
  ];
  return {
    ...schemas,
    // The log accepts any item. The item's form depends on the channel, so list the forms for
    // readers.
    InsertChange: withProperty(schemas.InsertChange, "item", { anyOf: items.map(refTo) }),
    EventMessage: oneOf(protocol.EventMessage.description, Object.values(EVENT_SCHEMAS)),
    Missed: oneOf(
      protocol.Missed.description,
      MISSED_NAMES.map((name) => `Missed${pascal(name)}`),
    ),
  };
}

/** Returns the components to which `document` refers, directly or indirectly. */
export function referredTo(
  schemas: Readonly<Record<string, JsonSchema>>,
  document: unknown,
): Readonly<Record<string, JsonSchema>> {
  const found = new Set<string>();
  const visit = (part: unknown) => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      visit(schemas[name]);
    }
  };
  visit(document);
  return Object.fromEntries(
    Object.entries(schemas)
      .filter(([name]) => found.has(name))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Merges each event with the log's fields: code generators handle intersections badly. */
function eventMessages(): Readonly<Record<string, z.ZodType>> {
  const messages: Record<string, z.ZodType> = {};
  const placed = protocol.EventMessage.def.left.shape;
  const missed = protocol.Missed.def.left.shape;
  for (const body of protocol.EventBody.options) {
    const name = body.shape.name.value;
    messages[EVENT_SCHEMAS[name]] = z.object({ ...placed, ...body.shape }).describe(body.description ?? "");
    if (MISSED_NAMES.some((one) => one === name)) {
      messages[`Missed${pascal(name)}`] = z
        .object({ ...missed, ...body.shape })
        .describe(body.description ?? "");
    }
  }
  return messages;
}

function withProperty(schema: JsonSchema | undefined, field: string, property: JsonSchema): JsonSchema {
  return { ...schema, properties: { ...schema?.properties, [field]: property } };
}

function oneOf(description: string | undefined, names: readonly string[]): JsonSchema {
  return { ...(description === undefined ? {} : { description }), oneOf: names.map(refTo) };
}

/** Converts `flare-started` to `FlareStarted`. */
export function pascal(name: string): string {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
