import { z } from 'zod';
import { Known, known, unknown } from '../../../queries/unknown.ts';
import { ledgerGroups } from '../../../runtime/ledger-groups.ts';
import type { Bus } from '../../../schemas/ports/bus.ts';
import { quotaWindowAt } from '../../../schemas/resources/quota.ts';
import { readVolumes, totalOf } from '../../../subjects/usage/ledger.ts';
import { iso, monthParameter, periodOf, project } from '../../../subjects/usage/period.ts';
import { Volume } from '../../../subjects/usage/volume.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { Period, PlanRef, usageCache } from './views.ts';

const Projected = z.strictObject({
  ...Volume.shape,
  forecast: z
    .strictObject({ records: Known, bytes: Known })
    .describe(
      'Accepted volume at the end of the period: the remaining days are forecast from the preceding complete days, five weeks at most',
    ),
});

const Usage = z.strictObject({
  asOf: z.string().describe('Time of the values, at most 5 minutes ago; `Cache-Control: no-cache` recomputes them'),
  period: Period,
  plan: PlanRef,
  today: z.strictObject({
    bytes: z.int().describe('Accepted since 00:00 UTC'),
    limitBytes: z.int().nullable().describe('Bytes per day that the plan allows; null: no limit'),
    share: Known.describe('Share of the limit; 1 means the whole limit'),
  }),
  signals: z.strictObject({ logs: Projected, metrics: Projected, traces: Projected }),
  total: Projected,
  pending: z
    .strictObject({ messages: Known })
    .describe('Messages of the whole installation that are durable but not counted yet'),
});

/** Messages that the ledger's consumers have yet to read. */
const pendingMessages = async (bus: Bus): Promise<Known> => {
  try {
    const lags = await Promise.all(ledgerGroups.map(({ group, topics }) => bus.lag(group, topics)));
    return known(lags.flat().reduce((sum, { lag }) => sum + lag, 0));
  } catch {
    return unknown('the bus does not answer');
  }
};

export const getUsage = defineOperation({
  method: 'GET',
  path: '/api/usage',
  operationId: 'getUsage',
  summary:
    'Get the volume that was accepted, stored, refused and rejected in a month, by signal, compared with the plan, with a forecast',
  role: 'viewer',
  cache: usageCache,
  query: z.strictObject({
    ...monthParameter,
    projectId: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('Only this project; the daily limit of the plan counts all projects'),
  }),
  response: Usage,
  async handler({ caller, query }, { columns, bus, clock }) {
    const nowMs = clock.now();
    const period = periodOf(query.month, nowMs);
    const reader = columns.of(caller.tenantId);
    const filter = { projectId: query.projectId };
    const today = quotaWindowAt('day', nowMs);
    const [volumes, projection, ofToday, messages] = await Promise.all([
      readVolumes(reader, filter, { fromMs: period.fromMs, toMs: period.endMs }),
      project(reader, filter, period, nowMs),
      readVolumes(reader, {}, { fromMs: today.fromMs, toMs: today.endMs }),
      pendingMessages(bus),
    ]);
    const { id, bytesPerDay } = { id: caller.organization.planId, ...caller.plan.limits };
    const { bytes } = totalOf(ofToday).accepted;
    const projected = (scope: keyof typeof volumes | 'total', volume: Volume) => ({
      ...volume,
      forecast: { records: projection.records[scope], bytes: projection.bytes[scope] },
    });
    return {
      asOf: iso(nowMs),
      period: { from: iso(period.fromMs), to: iso(period.endMs) },
      plan: { id, name: caller.plan.name },
      today: {
        bytes,
        limitBytes: bytesPerDay,
        share: bytesPerDay === null ? unknown('the plan has no limit') : known(bytes / bytesPerDay),
      },
      signals: {
        logs: projected('logs', volumes.logs),
        metrics: projected('metrics', volumes.metrics),
        traces: projected('traces', volumes.traces),
      },
      total: projected('total', totalOf(volumes)),
      pending: { messages },
    };
  },
});
