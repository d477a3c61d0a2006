import { createAsyncApi, createOpenApi } from "../../../src/extensions/docs/index.ts";
import { CONTRACTS } from "../../support/expect/contracts.ts";

/** The parts of JSON Schema that the contracts use. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

/** The types that the package returns. Types that they refer to are generated too. */
const ROOTS = [
  ...[
    "EventMessage",
    "Filter",
    "Hello",
    "View",
    "Lost",
    "Freshness",
    "Flares",
    "Newest",
    "Charts",
    "Leaderboards",
  ],
  ...["SnapshotResponse", "Candles", "HistoryResponse", "FlareRecord", "TokenDetails", "TrackRecord"],
];
const HEADER = `"""What the server sends, generated from its contracts. Do not edit: \`npx vitest run --root test clients/python -u\`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Union
`;
const SCALARS: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};
const KEYWORDS = new Set(["from"]);
const MAX_WIDTH = 96;

/** Returns the source of the package's \`model.py\`. */
export function modelSource(): string {
  return HEADER + new ModelSource().write(ROOTS);
}

class ModelSource {
  readonly #schemas: Readonly<Record<string, Schema>> = JSON.parse(
    JSON.stringify({
      ...createAsyncApi("").components.schemas,
      ...createOpenApi("", CONTRACTS).components.schemas,
    }),
  );
  /** The source of each type by name, in the order of first use, inner types first. */
  readonly #written = new Map<string, string>();
  readonly #begun = new Set<string>();

  write(roots: readonly string[]): string {
    for (const root of roots) this.#named(root);
    const names = [...this.#written.keys()].map((name) => `    "${name}",\n`).join("");
    return `${[...this.#written.values()].join("")}\n\n__all__ = [\n${names}]\n`;
  }

  /** Returns the Python name of a component, and writes it at its first use. */
  #named(component: string): string {
    const name = component.replace(/^(?!Event)(\w+)Message$/, "$1").replace(/^EventMessage$/, "Event");
    const schema = this.#schemas[component];
    if (!schema) throw new Error(`the contracts have no schema ${component}`);
    if (this.#begun.has(name)) return name;
    this.#begun.add(name);
    const variants = variantsOf(schema);
    if (["EventMessage", "AnyFlare"].includes(component)) {
      const events = variants.map((one) => this.#type(one, name));
      this.#written.set(name, `\n\n${name} = Union[\n${events.map((one) => `    ${one},\n`).join("")}]\n`);
    } else if (this.#isObject(schema)) this.#write(name, schema);
    else this.#written.set(name, `\n\n${name} = ${this.#type(schema, name)}\n`);
    return name;
  }

  #type(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return this.#named(schema.$ref.replace(/^.*\//, ""));
    if (this.#isObject(schema)) return this.#write(name, schema);
    const variants = variantsOf(schema);
    if (variants.length > 0) {
      const objects = variants.filter((one) => this.#isObject(one));
      const others = variants.filter((one) => !this.#isObject(one)).map((one) => this.#type(one, name));
      const merged = objects.length > 1 ? [this.#write(name, { anyOf: objects })] : [];
      const single = objects.length === 1 ? objects.map((one) => this.#type(one, name)) : [];
      return [...new Set([...merged, ...single, ...others])].join(" | ");
    }
    if (schema.const !== undefined) return `Literal["${schema.const}"]`;
    if (schema.enum) return literal(schema.enum);
    const { type, items, additionalProperties: values } = schema;
    if (type === "array") return `list[${items ? this.#type(items, `${name}Item`) : "Any"}]`;
    if (type === "object") return `dict[str, ${isEmpty(values) ? "Any" : this.#type(values, name)}]`;
    if (type === undefined) return "Any";
    return [type]
      .flat()
      .map((one) => SCALARS[one] ?? "Any")
      .join(" | ");
  }

  /** Writes a dataclass. Merges variants: a field that some of them lack is optional. */
  #write(name: string, schema: Schema): string {
    const variants = this.#objects(schema);
    const fields = new Map<string, Set<string>>();
    for (const { properties = {} } of variants) {
      for (const [field, value] of Object.entries(properties)) {
        const type = this.#type(value, name + pascal(field));
        fields.set(field, (fields.get(field) ?? new Set()).add(type));
      }
    }
    const isRequired = (field: string) => variants.every(({ required }) => required?.includes(field));
    const lines = [...fields].map(([field, types]) => {
      const all = [...types].join(" | ").replace(/"\] \| Literal\["/g, '", "');
      const own = KEYWORDS.has(field) ? `${field}_` : field.replace(".", "_");
      if (isRequired(field)) return `    ${own}: ${all}\n`;
      const initial = field.includes(".") ? `field(default=None, metadata={"name": "${field}"})` : "None";
      return `    ${own}: ${all.endsWith("None") ? all : `${all} | None`} = ${initial}\n`;
    });
    const sorted = [
      ...lines.filter((line) => !line.includes(" = ")),
      ...lines.filter((line) => line.includes(" = ")),
    ];
    const about = schema.description === undefined ? "" : docstring(schema.description);
    const source = `\n\n@dataclass(frozen=True)\nclass ${name}:\n${about}${sorted.join("")}`;
    const before = this.#written.get(name);
    if (before !== undefined && before !== source)
      throw new Error(`two different types have the name ${name}`);
    this.#written.set(name, source);
    return name;
  }

  #isObject(schema: Schema): boolean {
    if (schema.$ref !== undefined) return false;
    if (schema.properties) return true;
    const variants = variantsOf(schema);
    return variants.length > 1 && variants.every((one) => this.#objects(one).length > 0);
  }

  /** The objects that a schema allows; empty if it allows anything else. */
  #objects(schema: Schema): readonly Schema[] {
    const component = schema.$ref?.replace(/^.*\//, "");
    const target = component === undefined ? schema : this.#schemas[component];
    if (!target) return [];
    if (target.properties) return [target];
    const all = variantsOf(target).map((one) => this.#objects(one));
    return all.some((one) => one.length === 0) ? [] : all.flat();
  }
}

function variantsOf({ anyOf, oneOf, allOf }: Schema): readonly Schema[] {
  return anyOf ?? oneOf ?? allOf ?? [];
}

function isEmpty(schema: Schema | boolean | undefined): schema is boolean | undefined {
  return typeof schema !== "object" || Object.keys(schema).length === 0;
}

function literal(values: readonly string[]): string {
  return `Literal[${values.map((value) => `"${value}"`).join(", ")}]`;
}

function pascal(field: string): string {
  return field.replace(/(?:^|[_.])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function docstring(text: string): string {
  const lines: string[] = [];
  let line = '    """';
  for (const word of text.split(/\s+/)) {
    if (line.length + word.length >= MAX_WIDTH) {
      lines.push(line);
      line = "   ";
    }
    line += line.endsWith('"""') ? word : ` ${word}`;
  }
  return `${[...lines, line].join("\n")}"""\n\n`;
}
