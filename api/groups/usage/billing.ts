import { z } from 'zod';
import { type Known, Known as KnownSchema, known, sumOf, unknown } from '../../../queries/unknown.ts';
import { Price } from '../../../schemas/resources/plan.ts';
import { type Signal, signals } from '../../../schemas/telemetry-signals.ts';
import { readVolumes } from '../../../subjects/usage/ledger.ts';
import { iso, monthParameter, periodOf, project } from '../../../subjects/usage/period.ts';
import { defineOperation } from '../../kernel/operation.ts';
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
    // A past month has no forecast.
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

const gigabyte = 1e9;

/** Cost of a month's volume, by signal and in total. Unknown without a price, unless the volume is 0. */
interface Cost {
  readonly signals: Readonly<Record<Signal, Known>>;
  readonly total: Known;
}

const rounded = (amount: number): number => Math.round(amount * 100) / 100;

const costOfSignal = (price: Price | null, signal: Signal, bytes: Known): Known => {
  if (price === null) return unknown('the plan has no price');
  if (bytes.value === null) return bytes;
  const billed = bytes.value / gigabyte - (price.includedGigabytes?.[signal] ?? 0);
  if (billed <= 0) return known(0);
  const each = price.perGigabyte[signal];
  return each === null ? unknown(`${signal} have no price on this plan`) : known(rounded(billed * each));
};

export const costOf = (price: Price | null, bytes: Readonly<Record<Signal, Known>>): Cost => {
  const of = (signal: Signal): Known => costOfSignal(price, signal, bytes[signal]);
  const bySignal = { logs: of('logs'), metrics: of('metrics'), traces: of('traces') };
  const sum = sumOf([...signals.map((signal) => bySignal[signal]), known(price?.perMonth ?? 0)]);
  return { signals: bySignal, total: sum.value === null ? sum : known(rounded(sum.value)) };
};
