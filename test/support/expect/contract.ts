import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ResponseContract } from "../../../src/extensions/docs/contracts/problem-responses.ts";
import type { JsonSchema } from "../../../src/extensions/docs/contracts/schemas.ts";
import { createAsyncApi, createOpenApi } from "../../../src/extensions/docs/index.ts";
import {
  FRESHNESS_HEADERS,
  HEADERS,
  type HeaderName,
  KEY_HEADERS,
} from "../../../src/gateway/http/contract/response-headers.ts";
import { CONTRACTS } from "./contracts.ts";

/*
 * Checks all messages and responses of the tests against the served contracts. The check is
 * stricter
 * than the contracts: they allow fields that a later version may add, but this version must send
 * none that they do not name.
 */

const OPENAPI = createOpenApi("", CONTRACTS);
const ASYNCAPI = createAsyncApi("");

/** Longest first, because some paths end with others. */
const PATHS = Object.keys(OPENAPI.paths).toSorted((a, b) => b.length - a.length);

const ajv2020 = new Ajv2020({ strict: true, strictTypes: false });
ajv2020.addVocabulary(["components", "x-unit"]);
ajv2020.addSchema({ $id: "rest", components: { schemas: closeAll(OPENAPI.components.schemas) } });
const ajv7 = new Ajv({ strict: true, strictTypes: false });
ajv7.addVocabulary(["components", "x-unit"]);
ajv7.addSchema({ $id: "wire", components: { schemas: closeAll(ASYNCAPI.components.schemas) } });
const compiled = new Map<unknown, ValidateFunction>();

/**
 * Throws unless `message` is valid in the AsyncAPI document, in this direction, without extra
 * fields.
 */
export function checkMessage(message: unknown, from: "server" | "client" = "server"): void {
  const fail = (what: string): never => {
    throw new Error(`${what}: ${JSON.stringify(message)?.slice(0, 2_000)}`);
  };
  if (typeof message !== "object" || message === null || !("type" in message))
    throw fail("the message has no type");
  const name = message.type === "event" && "name" in message ? message.name : message.type;
  const known = typeof name === "string" ? ASYNCAPI.components.messages[name] : undefined;
  const isCommand = ["subscribe", "unsubscribe", "ping"].includes(String(name));
  if (!known || isCommand !== (from === "client"))
    throw fail(`the contract has no such message from the ${from}`);
  const validate = validator(ajv7, "wire", known.payload);
  if (!validate(message)) fail(`violates the contract: ${ajv7.errorsText(validate.errors)}`);
  if (!("channel" in message) || !("name" in message)) return;
  const names: readonly unknown[] = ASYNCAPI["x-channels"][String(message.channel)] ?? [];
  if (!names.includes(message.name)) fail(`channel ${message.channel} has no event ${message.name}`);
}

/** The parts of a response that the contract describes. */
interface ContractResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** `undefined`: no body. */
  readonly body: unknown;
}

/**
 * Throws unless the OpenAPI document has this response of the endpoint, with its headers and body.
 * Endpoints and methods that are not in the document are not checked.
 */
export function checkResponse(method: string, url: string, response: ContractResponse): void {
  const path = URL.canParse(url, "http://localhost") && pathOf(new URL(url, "http://localhost"));
  const operations: Readonly<Record<string, unknown>> = (path && OPENAPI.paths[path]) || {};
  const operation = operations[method.toLowerCase()] as OpenApiOperation | undefined;
  // A 404 may come from a path below another base path, and a 405 has no operation.
  if (!operation || response.status === 404 || response.status === 405) return;
  const fail = (what: string): never => {
    throw new Error(`${method} ${url} → ${response.status}: ${what}`);
  };
  const responses = operation.responses[`${response.status}`] ?? fail("the contract has no such status");
  const contract = "$ref" in responses ? OPENAPI.components.responses[nameOf(responses.$ref)] : responses;
  if (!contract) throw fail("the contract has a broken reference");
  checkHeaders(contract, response, fail);
  if (response.body === undefined) return;
  const type = String(response.headers["content-type"]).split(";")[0] ?? "";
  const content = contract.content?.[type] ?? fail(`the contract has no content type ${type}`);
  const validate = validator(ajv2020, "rest", content.schema);
  if (!validate(response.body)) fail(`violates the contract: ${ajv2020.errorsText(validate.errors)}`);
}

function pathOf({ pathname }: URL): string | undefined {
  return PATHS.find((known) => endsWithPath(pathname, known));
}

/** Whether an address ends with a path. Parts in braces match any value. */
export function endsWithPath(pathname: string, path: string): boolean {
  const pattern = path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+");
  return new RegExp(`${pattern}$`).test(pathname);
}

interface OpenApiOperation {
  readonly responses: Readonly<Record<string, ResponseContract | { readonly $ref: string }>>;
}

/** Header fields that only some successful responses have. */
const OPTIONAL: readonly HeaderName[] = [
  "Flarewire-At",
  "Flarewire-Stored-Since",
  "Flarewire-Observed-At",
  "Link",
  ...KEY_HEADERS,
];

function checkHeaders(
  contract: ResponseContract,
  { status, headers }: ContractResponse,
  fail: (what: string) => never,
): void {
  const responses = Object.keys(contract.headers ?? {});
  const isClosed = String(headers["cache-control"]).includes("immutable");
  for (const [name, { schema }] of Object.entries(HEADERS)) {
    const value = headers[name.toLowerCase()];
    if (value === undefined) {
      // A page that never changes cannot say how fresh the data is.
      const optional = isClosed ? [...OPTIONAL, ...FRESHNESS_HEADERS] : OPTIONAL;
      const isRequired = status < 400 ? !optional.some((one) => one === name) : name === "Retry-After";
      if (isRequired && responses.includes(name)) fail(`header ${name} is missing`);
      continue;
    }
    // All responses have these two, for caches and browsers.
    if (name === "Vary" || name === "Cache-Control") continue;
    if (!responses.includes(name)) fail(`header ${name} is not in the contract`);
    const typed = "type" in schema && schema.type === "integer" ? Number(value) : value;
    if (!validator(ajv2020, "rest", schema)(typed)) fail(`header ${name} has the invalid value ${value}`);
  }
}

/** Returns the validator of a schema in one of the documents. It is compiled once. */
function validator(ajv: Ajv, document: string, schema: JsonSchema): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const text = JSON.stringify(schema).replaceAll('"#/components/', `"${document}#/components/`);
  const validate = ajv.compile(JSON.parse(text));
  compiled.set(schema, validate);
  return validate;
}

function nameOf(ref: string): string {
  return ref.split("/").at(-1) ?? "";
}

function closeAll(schemas: Readonly<Record<string, JsonSchema>>): object {
  return JSON.parse(JSON.stringify(schemas), (_key, value: unknown) => {
    const isOpen =
      typeof value === "object" &&
      value !== null &&
      "type" in value &&
      value.type === "object" &&
      "properties" in value &&
      !("additionalProperties" in value);
    return isOpen ? { ...value, additionalProperties: false } : value;
  });
}
