import type { z } from "zod";

/** Returns the name of a schema, as a type expression; `undefined` if it has none. */
type NameOf = (schema: z.core.$ZodType) => string | undefined;

/**
 * Writes out the type of a schema's output as TypeScript. Names only the schemas in it. Throws for
 * a kind of schema that the contract does not use.
 */
export function typeText(schema: z.core.$ZodType, nameOf: NameOf): string {
  const inner = (other: z.core.$ZodType) => nameOf(other) ?? typeText(other, nameOf);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "string":
    case "number":
    case "boolean":
    case "null":
    case "unknown":
      return def.type;
    case "template_literal":
      return "string";
    case "literal":
      return union(def.values.map((value) => JSON.stringify(value)));
    case "enum":
      return union(Object.values(def.entries).map((value) => JSON.stringify(value)));
    case "array":
      return `readonly (${inner(def.element)})[]`;
    case "tuple":
      return `readonly [${def.items.map(inner).join(", ")}]`;
    case "nullable":
      return union([inner(def.innerType), "null"]);
    case "optional":
      return union([inner(def.innerType), "undefined"]);
    case "default":
    case "readonly":
      return inner(def.innerType);
    case "union":
      return union(def.options.map(inner));
    case "intersection":
      return `(${inner(def.left)}) & (${inner(def.right)})`;
    case "record":
      return `Record<${inner(def.keyType)}, ${inner(def.valueType)}>`;
    case "object":
      return objectText(def.shape, inner);
    default:
      throw new Error(`no type text for a schema of type ${def.type}`);
  }
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

function objectText(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  inner: (schema: z.core.$ZodType) => string,
) {
  const fields = Object.entries(shape).map(([name, field]) => {
    const mark = field._zod.optout === "optional" ? "?" : "";
    const description = "description" in field && field.description;
    const comment = description ? `/** ${String(description).replaceAll("*/", "*\\/")} */\n` : "";
    return `${comment}${JSON.stringify(name)}${mark}: ${inner(field)};\n`;
  });
  return `{\n${fields.join("")}}`;
}
