import { Html, html, prose } from "../../pages/index.ts";
import type { JsonSchema } from "../contracts/schemas.ts";

/** Renders a schema's type in words, with links: `list of Flare`, `text or null`. */
export function typeHtml(schema: JsonSchema): Html {
  const { $ref, anyOf, oneOf, allOf, items } = schema;
  if ($ref) {
    const name = $ref.split("/").at(-1) ?? "";
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const choices = anyOf ?? oneOf;
  if (choices) return join(choices.map(typeHtml), " or ");
  if (allOf?.[0]) return typeHtml(allOf[0]);
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum)
    return join(
      schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      " or ",
    );
  if (schema.type === "array")
    return html`list of ${items ? typeHtml(items) : "anything"}${bounds(schema, "Items", "")}`;
  if (schema.properties) return html`object ${fieldsHtml(schema)}`;
  return plainHtml(schema);
}

/** Renders the schema's fields as a table, or its type if it is not an object. */
function fieldsHtml(schema: JsonSchema): Html {
  const { properties, required = [] } = schema;
  if (!properties) return html`<p>${typeHtml(schema)}</p>`;
  const rows = Object.entries(properties).map(([name, property]) => {
    const words = property.description === undefined ? html`` : html`<br>${prose(property.description)}`;
    const optional = required.includes(name) ? html`` : html` <small>may be absent</small>`;
    return html`<tr><th scope="row"><code>${name}</code>${optional}</th><td>${typeHtml(property)}${words}</td></tr>`;
  });
  return html`<div class="wide"><table class="fields"><tbody>${rows}</tbody></table></div>`;
}

/**
 * Renders every named schema with its description and an anchor. `isFolded` hides each until it is
 * opened.
 */
export function schemasHtml(schemas: Readonly<Record<string, JsonSchema>>, isFolded = false): Html {
  const sections = Object.entries(schemas).map(([name, schema]) => {
    const words = schema.description === undefined ? html`` : html`<p>${prose(schema.description)}</p>`;
    if (isFolded) return foldHtml(`schema-${name}`, html`${name}`, html`${words}\n${fieldsHtml(schema)}`);
    return html`<section id="schema-${name}"><h3>${name}</h3>
${words}
${fieldsHtml(schema)}</section>
`;
  });
  return html`<section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>
${sections}</section>`;
}

/** Renders a section that opens on a click or through a link to its anchor. */
export function foldHtml(id: string, title: Html, body: Html, note: Html = html``): Html {
  return html`<details class="fold" id="${id}"><summary><h3>${title}</h3>${note}</summary>
${body}</details>
`;
}

export function exampleHtml(value: unknown, isOpen = false): Html {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  return html`<details${isOpen ? html` open` : html``}><summary>Example</summary><pre tabindex="0">${text}</pre></details>`;
}

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  null: "null",
  object: "object",
};

function plainHtml(schema: JsonSchema): Html {
  const { type, pattern, additionalProperties } = schema;
  if (type === "object" && typeof additionalProperties === "object")
    return html`map to ${typeHtml(additionalProperties)}`;
  const form =
    typeof pattern === "string" && pattern.length < 80 ? html` of the form <code>${pattern}</code>` : html``;
  return html`${type === undefined ? "anything" : (WORDS[type] ?? type)}${bounds(schema, "Length", " characters")}${bounds(schema, "", "")}${form}`;
}

/** Returns bounds such as `, 1 to 64`. Omits the safe integers' bounds, which zod adds. */
function bounds(schema: JsonSchema, of: "Items" | "Length" | "", unit: string): Html {
  const least = schema[`min${of || "imum"}`];
  const most = schema[`max${of || "imum"}`];
  const low = typeof least === "number" && least > Number.MIN_SAFE_INTEGER ? least : undefined;
  const high = typeof most === "number" && most < Number.MAX_SAFE_INTEGER ? most : undefined;
  if (low === undefined && high === undefined) return html``;
  if (high === undefined) return html`, ${low} or more${unit}`;
  return low === undefined ? html`, at most ${high}${unit}` : html`, ${low} to ${high}${unit}`;
}

function join(parts: readonly Html[], between: string): Html {
  return new Html(parts.map(({ markup }) => markup).join(between));
}
