import { expect, test } from "vitest";
import { alertMetrics } from "../../../src/extensions/alerts/alert-metrics.ts";
import { metricsText } from "../../../src/gateway/metrics/metric-table.ts";

test("each webhook has its own series: attempts by outcome, queue length, age in seconds, and whether it is disabled", () => {
  const attempts = { delivered: 3, failed: 2, refused: 1, gone: 0 };
  const desk = { attempts, dropped: 4, refused: 1, waiting: 5, oldestAgeMs: 90_500, disabled: false };
  const phone = {
    ...{
      attempts: { delivered: 0, failed: 0, refused: 0, gone: 1 },
      dropped: 0,
      refused: 0,
      waiting: 0,
      oldestAgeMs: 0,
    },
    disabled: true,
  };
  const text = metricsText(alertMetrics(() => ({ desk, phone })));
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines).toEqual([
    'flarewire_webhook_attempts_total{webhook="desk",outcome="delivered"} 3',
    'flarewire_webhook_attempts_total{webhook="desk",outcome="failed"} 2',
    'flarewire_webhook_attempts_total{webhook="desk",outcome="refused"} 1',
    'flarewire_webhook_attempts_total{webhook="desk",outcome="gone"} 0',
    'flarewire_webhook_attempts_total{webhook="phone",outcome="delivered"} 0',
    'flarewire_webhook_attempts_total{webhook="phone",outcome="failed"} 0',
    'flarewire_webhook_attempts_total{webhook="phone",outcome="refused"} 0',
    'flarewire_webhook_attempts_total{webhook="phone",outcome="gone"} 1',
    'flarewire_webhook_dropped_total{webhook="desk"} 4',
    'flarewire_webhook_dropped_total{webhook="phone"} 0',
    'flarewire_webhook_refused_total{webhook="desk"} 1',
    'flarewire_webhook_refused_total{webhook="phone"} 0',
    'flarewire_webhook_waiting{webhook="desk"} 5',
    'flarewire_webhook_waiting{webhook="phone"} 0',
    'flarewire_webhook_oldest_seconds{webhook="desk"} 90.5',
    'flarewire_webhook_oldest_seconds{webhook="phone"} 0',
    'flarewire_webhook_disabled{webhook="desk"} 0',
    'flarewire_webhook_disabled{webhook="phone"} 1',
  ]);
});
