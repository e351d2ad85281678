/** The time from the end of a bad slice to its webhook, with the default delays. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import fc from 'fast-check';
import { getDueTiming } from '../../../processors/alerts/alert-evaluation.ts';
import { ScheduleItems } from '../../../processors/engine/schedule-items.ts';
import { computeSharedPhase, getNextDueMs, toItemKey } from '../../../processors/engine/schedule-times.ts';
import { sloMeasurement } from '../../../processors/slos/slo-measurement.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import { AlertRouting } from '../../../schemas/resources/alert-routing.ts';
import { parseDurationMs } from '../../../subjects/alerts/durations.ts';
import { compileRoutes } from '../../../subjects/alerts/routing/tree.ts';
import { createAlertRules } from '../../../subjects/slos/alert-rules.ts';
import { SloFields } from '../../../subjects/slos/document.ts';

const minuteMs = 60_000;
const within = 90_000;
/** The expected lateness of schedules (p99), and landing: sinks and processors delay it by a second. */
const latenessMs = 5000;
const landingMs = 3000;
/**
 * From the evaluation to its group, and from the group to the request: at most a second for each poll of the bus, plus
 * processing.
 */
const deliveryMs = 8000;
const { groupWaitMs } = compileRoutes(AlertRouting.parse({ receivers: [{ name: 'all' }], route: { receiver: 'all' } }));

test('a slice is measured and landed before its rules read it, and the webhook is sent within 90 s of its end', (t) => {
  const slo = SloFields.parse({ name: 'checkout', service: 'checkout' });
  const registry = new ScheduleItems(sloMeasurement, silentLog);
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), fc.integer({ min: 28_000_000, max: 30_000_000 }), (tenantId, id, minute) => {
      const endMs = minute * minuteMs;
      const document = { ...slo, id, version: 1, createdAt: '', updatedAt: '' };
      const { slot, key } = registry.applyChange({ tenantId, id, before: undefined, after: document });
      const item = registry.getItems(slot).get(key);
      if (item === undefined) throw new Error('it is not measured');
      const measuredMs = getNextDueMs(item.phase, item.everyMs, endMs - 1) - endMs;
      t.true(measuredMs >= 2000, `measured ${measuredMs} ms after its end`);
      for (const [ruleId, rule] of createAlertRules(id, slo)) {
        const everyMs = parseDurationMs(rule.interval);
        const delayMs = parseDurationMs(rule.delay);
        t.true(measuredMs + latenessMs + landingMs <= delayMs);
        const phase = computeSharedPhase(tenantId, toItemKey(tenantId, ruleId), {
          everyMs,
          ...getDueTiming({ ...rule, id: ruleId, version: 1 }),
        });
        const evaluatedMs = getNextDueMs(phase, everyMs, endMs + delayMs - 1) - endMs;
        const notifiedAfterMs = evaluatedMs + latenessMs + groupWaitMs + deliveryMs;
        t.true(notifiedAfterMs <= within, `told ${notifiedAfterMs} ms after its end`);
      }
    }),
  );
});
