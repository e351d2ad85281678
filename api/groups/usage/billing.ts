import { z } from 'zod';
import {
  addNumbers,
  NumberOrReason as KnownSchema,
  type NumberOrReason,
  toKnownNumber,
  toUnknownNumber,
} from '../../../queries/unknown-numbers.ts';
import { Price } from '../../../schemas/resources/plan.ts';
import { type Signal, signals } from '../../../schemas/telemetry-signals.ts';
import { readVolumes } from '../../../subjects/usage/ledger.ts';
import { forecastUsage, getMonthPeriod, monthParameter, toIsoTime } from '../../../subjects/usage/period.ts';
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
    const period = getMonthPeriod(query.month, nowMs);
    const reader = columns.forTenant(caller.tenantId);
    const [volumes, projection] = await Promise.all([
      readVolumes(reader, {}, { fromMs: period.fromMs, toMs: period.endMs }),
      forecastUsage(reader, {}, period, nowMs),
    ]);
    const price = caller.plan.price ?? null;
    const getAcceptedBytes = (signal: Signal): number => volumes[signal].accepted.bytes;
    const acceptedBytes = {
      logs: getAcceptedBytes('logs'),
      metrics: getAcceptedBytes('metrics'),
      traces: getAcceptedBytes('traces'),
    };
    // A past month has no forecast.
    const projectBytes = (signal: Signal): NumberOrReason =>
      nowMs >= period.endMs ? toKnownNumber(acceptedBytes[signal]) : projection.bytes[signal];
    return {
      asOf: toIsoTime(nowMs),
      plan: { id: caller.organization.planId, name: caller.plan.name, price },
      period: { from: toIsoTime(period.fromMs), to: toIsoTime(period.endMs) },
      currency: price?.currency ?? null,
      acceptedBytes: acceptedBytes,
      cost: computeCost(price, {
        logs: toKnownNumber(acceptedBytes.logs),
        metrics: toKnownNumber(acceptedBytes.metrics),
        traces: toKnownNumber(acceptedBytes.traces),
      }),
      projected: computeCost(price, {
        logs: projectBytes('logs'),
        metrics: projectBytes('metrics'),
        traces: projectBytes('traces'),
      }),
      selfService: settings.SELF_SERVICE_PLANS,
    };
  },
});

const gigabyte = 1e9;

/** Cost of a month's volume, by signal and in total. Unknown without a price, unless the volume is 0. */
interface Cost {
  readonly signals: Readonly<Record<Signal, NumberOrReason>>;
  readonly total: NumberOrReason;
}

const roundToCents = (amount: number): number => Math.round(amount * 100) / 100;

const computeSignalCost = (price: Price | null, signal: Signal, bytes: NumberOrReason): NumberOrReason => {
  if (price === null) return toUnknownNumber('the plan has no price');
  if (bytes.value === null) return bytes;
  const billedGigabytes = bytes.value / gigabyte - (price.includedGigabytes?.[signal] ?? 0);
  if (billedGigabytes <= 0) return toKnownNumber(0);
  const pricePerGigabyte = price.perGigabyte[signal];
  return pricePerGigabyte === null
    ? toUnknownNumber(`${signal} have no price on this plan`)
    : toKnownNumber(roundToCents(billedGigabytes * pricePerGigabyte));
};

export const computeCost = (price: Price | null, bytes: Readonly<Record<Signal, NumberOrReason>>): Cost => {
  const toSignalCost = (signal: Signal): NumberOrReason => computeSignalCost(price, signal, bytes[signal]);
  const bySignal = { logs: toSignalCost('logs'), metrics: toSignalCost('metrics'), traces: toSignalCost('traces') };
  const sum = addNumbers([...signals.map((signal) => bySignal[signal]), toKnownNumber(price?.perMonth ?? 0)]);
  return { signals: bySignal, total: sum.value === null ? sum : toKnownNumber(roundToCents(sum.value)) };
};
