import { z } from 'zod';
import { readVolumes } from '../../../queries/ledger/ledger.ts';
import { iso, monthParameter, periodOf, project } from '../../../queries/ledger/period.ts';
import { type Known, Known as KnownSchema, known } from '../../../queries/ledger/unknown.ts';
import { Price } from '../../../schemas/resources/plan.ts';
import type { Signal } from '../../../schemas/topics.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { costOf } from './cost.ts';
import { Period, PlanRef, usageCache } from './views.ts';

const CostView = z.strictObject({
  signals: z.strictObject({ logs: KnownSchema, metrics: KnownSchema, traces: KnownSchema }),
  total: KnownSchema.describe('Including the monthly price'),
});

export const getBilling = defineOperation({
  method: 'GET',
  path: '/api/billing',
  operationId: 'getBilling',
  summary: 'Get the cost of the accepted volume, so far and projected to the end of the period, under the current plan',
  role: 'admin',
  cache: usageCache,
  query: z.strictObject(monthParameter),
  response: z.strictObject({
    asOf: z.string(),
    plan: z.strictObject({ ...PlanRef.shape, price: Price.nullable() }),
    period: Period,
    currency: z.string().nullable(),
    acceptedBytes: z.strictObject({ logs: z.int(), metrics: z.int(), traces: z.int() }),
    cost: CostView.describe('Cost so far'),
    projected: CostView.describe('Projected cost at the end of the period'),
    selfService: z.boolean().describe('Administrators may change the plan'),
  }),
  async handler({ caller, query }, { columns, clock, settings }) {
    const nowMs = clock.now();
    const period = periodOf(query.month, nowMs);
    const reader = columns.of(caller.tenantId);
    const [volumes, projection] = await Promise.all([
      readVolumes(reader, {}, { fromMs: period.fromMs, toMs: period.endMs }),
      project(reader, {}, period, nowMs),
    ]);
    const price = caller.plan.price ?? null;
    const accepted = (signal: Signal): number => volumes[signal].accepted.bytes;
    const bytes = { logs: accepted('logs'), metrics: accepted('metrics'), traces: accepted('traces') };
    // What is over has cost what it has.
    const atEnd = (signal: Signal): Known => (nowMs >= period.endMs ? known(bytes[signal]) : projection.bytes[signal]);
    return {
      asOf: iso(nowMs),
      plan: { id: caller.organization.planId, name: caller.plan.name, price },
      period: { from: iso(period.fromMs), to: iso(period.endMs) },
      currency: price?.currency ?? null,
      acceptedBytes: bytes,
      cost: costOf(price, { logs: known(bytes.logs), metrics: known(bytes.metrics), traces: known(bytes.traces) }),
      projected: costOf(price, { logs: atEnd('logs'), metrics: atEnd('metrics'), traces: atEnd('traces') }),
      selfService: settings.SELF_SERVICE_PLANS,
    };
  },
});
