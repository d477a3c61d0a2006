import { expect, test } from "vitest";
import { secretBytes, signWebhook } from "../../../../src/extensions/alerts/targets/webhook.ts";
import { SECRET } from "../webhook-fixture.ts";

test("a message is signed as the reference implementations of Standard Webhooks sign it", () => {
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: '{"test": 2432232314}' };
  expect(signWebhook(secretBytes(SECRET), message, 1_614_265_330_999)).toEqual({
    "webhook-id": message.id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});
