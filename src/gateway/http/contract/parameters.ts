import { z } from "zod";
import { QUERY_DECIMAL } from "../../../base/protocol/index.ts";
import { invalid } from "../problems/invalid.ts";

/** A parameter of a query, a part of a path or a header field of requests. */
export interface Parameter<T extends z.ZodType = z.ZodType> {
  /**
   * The value's form, as the documents show it, and what the server makes of it. A list is written
   * as `a,b` or repeated. Its messages complete "it must be"; choices, flags and whole numbers have
   * one by default.
   */
  readonly schema: T;
  readonly description: string;
  /** A value that a server with data accepts. */
  readonly example: string | number | boolean | readonly string[];
  /** Returns what a message adds to an invalid value, such as the nearest valid one. */
  readonly hint?: (value: string) => string;
  /** The requests for events that accept it. Default: all. */
  readonly only?: "streams" | "polls";
  /** How many requests a request with it counts as in addition. Default 0. */
  readonly cost?: number;
}

/** Parameters by name, in the order of the documents. */
export type ParameterSet = Readonly<Record<string, Parameter>>;

type ValueOf<T extends z.ZodType> = z.output<T> | (T extends z.ZodDefault ? never : undefined);
/** Values by name. Without a default, `undefined` if the request does not have the parameter. */
export type ValuesOf<P extends ParameterSet> = { readonly [N in keyof P]: ValueOf<P[N]["schema"]> };

/** Reads a query. Throws `invalid-parameter` for the first invalid value. */
export function readQuery<P extends ParameterSet>(parameters: P, query: unknown): ValuesOf<P> {
  const given: Readonly<Record<string, unknown>> = Object(query);
  const read = Object.entries(parameters).map(([name, one]) => [name, readParameter(name, one, given[name])]);
  return Object.fromEntries(read) as ValuesOf<P>;
}

/** Reads a parameter. Throws `invalid-parameter`. */
export function readParameter<T extends z.ZodType>(
  name: string,
  { schema, hint }: Parameter<T>,
  value: unknown,
): ValueOf<T> {
  if (value === undefined && !(schema instanceof z.ZodDefault)) return undefined as ValueOf<T>;
  const form = formOf(schema);
  const parsed = schema.safeParse(decode(name, form, value), { error: (issue) => boundOf(form, issue) });
  if (parsed.success) return parsed.data as ValueOf<T>;
  const [issue] = parsed.error.issues;
  throw invalid(name, value, issue?.message ?? "another value", hint?.(String(value)));
}

/** Converts the given values to their forms, without checking them further. Omits absent ones. */
export function decodeQuery(
  parameters: ParameterSet,
  query: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const given = Object.entries(parameters).filter(([name]) => query[name] !== undefined);
  return Object.fromEntries(
    given.map(([name, { schema }]) => [name, decode(name, formOf(schema), query[name])]),
  );
}

/** A text of this form. `bound`: says what it must be. */
export function text(form: RegExp, bound: string): z.ZodString {
  return z.string(bound).regex(form, bound);
}

/** The schema without its default, and before it converts the value. */
function formOf(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault) return formOf(schema.def.innerType);
  return schema instanceof z.ZodPipe ? formOf(schema.def.in) : schema;
}

function decode(name: string, form: z.core.$ZodType, value: unknown): unknown {
  if (value === undefined) return undefined;
  if (form instanceof z.ZodArray) return [value].flat().flatMap((part) => String(part).split(","));
  if (form instanceof z.ZodBoolean) {
    if (value === "true" || value === "false") return value === "true";
    throw invalid(name, value, "true or false");
  }
  if (!(form instanceof z.ZodNumber)) return value;
  // Digits only: `1.0` and `1e2` are no way to write a whole number here.
  const written = isWhole(form) ? /^\d{1,6}$/ : QUERY_DECIMAL;
  if (typeof value === "string" && written.test(value)) return Number(value);
  if (isWhole(form)) return value;
  throw invalid(name, value, "a decimal number");
}

function boundOf(form: z.core.$ZodType, issue: z.core.$ZodRawIssue): string | undefined {
  if (isWhole(form)) return `a whole number from ${form.minValue} to ${form.maxValue}`;
  return issue.code === "invalid_value" ? `one of ${issue.values.join(", ")}` : undefined;
}

function isWhole(form: z.core.$ZodType): form is z.ZodNumber {
  return form instanceof z.ZodNumber && form.isInt;
}
