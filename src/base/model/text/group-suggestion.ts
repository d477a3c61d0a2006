import { suggestion } from "../../lib/text/nearest.ts";
import { GROUPS, groupCalled } from "../groups.ts";

/** Returns ` (did you mean X?)` for another word for a group, such as Polygon, or a typo. */
export function groupSuggestion(text: string): string {
  const called = groupCalled(text);
  return called === undefined ? suggestion(text, GROUPS) : ` (did you mean ${called}?)`;
}
