import { expect, test } from "vitest";
import { formAlert } from "../../../../src/extensions/alerts/index.ts";
import { EMOJI, renderAlert } from "../../../../src/extensions/alerts/targets/alert-text.ts";

const PLAIN = {
  text: (text: string) => text,
  name: (name: string) => `<${name}>`,
  icons: EMOJI,
  link: String,
};

test("a test message says so in words", () => {
  const alert = formAlert("chat", "doctor", { type: "test", key: "1", data: {} }, 0);
  expect(renderAlert(alert, PLAIN)).toBe("⚠️ a test: alerts reach this receiver");
});
