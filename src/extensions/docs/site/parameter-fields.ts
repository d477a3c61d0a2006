import { type Html, html, prose } from "../../pages/index.ts";
import type { ParameterContract } from "../contracts/parameters.ts";
import { typeHtml } from "./schema-html.ts";

/** Renders labeled inputs. `prefix` keeps the ids of a page's forms distinct. */
export function parameterFields(prefix: string, parameters: readonly ParameterContract[]): Html {
  const fields = parameters.map((parameter) => {
    const { name, description, schema } = parameter;
    const id = `${prefix}-${name.toLowerCase()}`;
    const location = parameter.in === "header" ? html` <small>header field</small>` : html``;
    return html`<div class="field"><label for="${id}"><code>${name}</code>${location}</label>
${inputHtml(id, parameter)}
<p id="${id}-about">${prose(description)} <small>${typeHtml(schema)}</small></p></div>
`;
  });
  return html`${fields}`;
}

function inputHtml(id: string, { name, schema, example, in: location }: ParameterContract): Html {
  const values = schema.enum ?? (schema.type === "boolean" ? ["true", "false"] : undefined);
  if (values) {
    const options = values.map((value) => html`<option>${String(value)}</option>`);
    return html`<select id="${id}" name="${name}" data-in="${location}" aria-describedby="${id}-about"><option value="">default</option>${options}</select>`;
  }
  const hint = [example].flat().join(",");
  return html`<input id="${id}" name="${name}" data-in="${location}" placeholder="${hint}" aria-describedby="${id}-about" autocomplete="off" spellcheck="false">`;
}

/**
 * Renders the input for the key; at most one per page. It has no name, so no form puts it into a
 * URL. `use`: what the page does with it.
 */
export function keyField(
  use = html`This page sends it in <code>Authorization</code> with each request.`,
): Html {
  return html`<div class="field"><label for="key">Key</label>
<input id="key" type="password" aria-describedby="key-about" autocomplete="off" spellcheck="false">
<p id="key-about">For servers with keys. ${use} It is not stored.</p></div>
`;
}
