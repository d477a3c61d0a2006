import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { HEADERS, type HeaderName, KEY_HEADERS } from "../../src/http/contracts/headers.ts";
import type { ResponseContract } from "../../src/http/contracts/problem-responses.ts";
import type { JsonSchema } from "../../src/http/contracts/schemas.ts";
import { createAsyncApi, createOpenApi } from "../../src/http/index.ts";

/*
 * What goes over the wire in the tests is held to the contracts as they are served, and to more:
 * the contracts leave room for fields that a later version may add, but this version sends none
 * that they do not name.
 */

const OPENAPI = createOpenApi("");
const ASYNCAPI = createAsyncApi("");

/** Most specific first: some paths end with others. */
const PATHS = Object.keys(OPENAPI.paths).toSorted((a, b) => b.length - a.length);

const ajv2020 = new Ajv2020({ strict: true, strictTypes: false });
ajv2020.addVocabulary(["components", "x-unit"]);
ajv2020.addSchema({ $id: "rest", components: { schemas: closeAll(OPENAPI.components.schemas) } });
const ajv7 = new Ajv({ strict: true, strictTypes: false });
ajv7.addVocabulary(["components", "x-unit"]);
ajv7.addSchema({ $id: "wire", components: { schemas: closeAll(ASYNCAPI.components.schemas) } });
const compiled = new Map<unknown, ValidateFunction>();

/**
 * Throws unless `message` is one of the AsyncAPI document, in this direction, with no field beyond
 * it.
 */
export function checkMessage(message: unknown, from: "server" | "client" = "server"): void {
  const fail = (what: string): never => {
    throw new Error(`${what}: ${JSON.stringify(message)?.slice(0, 2_000)}`);
  };
  if (typeof message !== "object" || message === null || !("type" in message)) throw fail("no message");
  const name = message.type === "event" && "name" in message ? message.name : message.type;
  const known = typeof name === "string" ? ASYNCAPI.components.messages[name] : undefined;
  const isCommand = ["subscribe", "unsubscribe", "ping"].includes(String(name));
  if (!known || isCommand !== (from === "client")) throw fail(`no message from the ${from} in the contract`);
  const validate = validator(ajv7, "wire", known.payload);
  if (!validate(message)) fail(`not of its contract, ${ajv7.errorsText(validate.errors)}`);
  if (!("channel" in message) || !("name" in message)) return;
  const names: readonly unknown[] = ASYNCAPI["x-channels"][String(message.channel)] ?? [];
  if (!names.includes(message.name)) fail(`${message.name} does not come on ${message.channel}`);
}

/** A response as the contract sees it. */
interface ContractResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** `undefined` where there is no body. */
  readonly body: unknown;
}

/**
 * Throws unless the OpenAPI document knows this answer of the address, its fields and its body.
 * Addresses and methods that it does not know are passed over.
 */
export function checkResponse(method: string, url: string, response: ContractResponse): void {
  const path = URL.canParse(url, "http://localhost") && pathOf(new URL(url, "http://localhost"));
  const operations: Readonly<Record<string, unknown>> = (path && OPENAPI.paths[path]) || {};
  const operation = operations[method.toLowerCase()] as OpenApiOperation | undefined;
  // Below another base path it is not this address, and a method that is none of HTTP's has no
  // operation.
  if (!operation || response.status === 404 || response.status === 405) return;
  const fail = (what: string): never => {
    throw new Error(`${method} ${url} → ${response.status}: ${what}`);
  };
  const reported = operation.responses[`${response.status}`] ?? fail("no such status in the contract");
  const contract = "$ref" in reported ? OPENAPI.components.responses[nameOf(reported.$ref)] : reported;
  if (!contract) throw fail("a reference to nowhere");
  checkHeaders(contract, response, fail);
  if (response.body === undefined) return;
  const type = String(response.headers["content-type"]).split(";")[0] ?? "";
  const content = contract.content?.[type] ?? fail(`no ${type} in the contract`);
  const validate = validator(ajv2020, "rest", content.schema);
  if (!validate(response.body)) fail(`not of its contract, ${ajv2020.errorsText(validate.errors)}`);
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

/** Fields that are there only when there is something to tell. */
const OFTEN_ABSENT: readonly HeaderName[] = [
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
  const reported = Object.keys(contract.headers ?? {});
  for (const [name, { schema }] of Object.entries(HEADERS)) {
    const value = headers[name.toLowerCase()];
    if (value === undefined) {
      const due = status < 400 ? !OFTEN_ABSENT.some((one) => one === name) : name === "Retry-After";
      if (due && reported.includes(name)) fail(`no ${name}`);
      continue;
    }
    // Caches and browsers get these two whatever the answer is.
    if (name === "Vary" || name === "Cache-Control") continue;
    if (!reported.includes(name)) fail(`${name} is not in the contract`);
    const typed = "type" in schema && schema.type === "integer" ? Number(value) : value;
    if (!validator(ajv2020, "rest", schema)(typed)) fail(`${name} is ${value}`);
  }
}

/** A validator of a schema of one of the documents, made once. */
function validator(ajv: Ajv, document: string, schema: JsonSchema): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const text = JSON.stringify(schema).replaceAll('"#/components/', `"${document}#/components/`);
  const made = ajv.compile(JSON.parse(text));
  compiled.set(schema, made);
  return made;
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
