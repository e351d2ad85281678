import { z } from 'zod';
import { NumberOrReason, toKnownNumber, toUnknownNumber } from '../../../queries/unknown-numbers.ts';
import { ledgerGroups } from '../../../runtime/ledger-groups.ts';
import type { Bus } from '../../../schemas/ports/bus.ts';
import { getQuotaWindow } from '../../../schemas/resources/quota.ts';
import { readVolumes, sumVolumes } from '../../../subjects/usage/ledger.ts';
import { forecastUsage, getMonthPeriod, monthParameter, toIsoTime } from '../../../subjects/usage/period.ts';
import { Volume } from '../../../subjects/usage/volume.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { Period, PlanRef, usageCache } from './views.ts';

const ProjectedVolume = z.strictObject({
  ...Volume.shape,
  forecast: z
    .strictObject({ records: NumberOrReason, bytes: NumberOrReason })
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
    share: NumberOrReason.describe('Share of the limit; 1 means the whole limit'),
  }),
  signals: z.strictObject({ logs: ProjectedVolume, metrics: ProjectedVolume, traces: ProjectedVolume }),
  total: ProjectedVolume,
  pending: z
    .strictObject({ messages: NumberOrReason })
    .describe('Messages of the whole installation that are durable but not counted yet'),
});

/** Counts the messages that the consumers of the usage ledger have not read yet. */
const countPendingMessages = async (bus: Bus): Promise<NumberOrReason> => {
  try {
    const lags = await Promise.all(ledgerGroups.map(({ group, topics }) => bus.lag(group, topics)));
    return toKnownNumber(lags.flat().reduce((sum, { lag }) => sum + lag, 0));
  } catch {
    return toUnknownNumber('the bus does not respond');
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
    const period = getMonthPeriod(query.month, nowMs);
    const reader = columns.forTenant(caller.tenantId);
    const filter = { projectId: query.projectId };
    const today = getQuotaWindow('day', nowMs);
    const [volumes, projection, todayVolumes, messages] = await Promise.all([
      readVolumes(reader, filter, { fromMs: period.fromMs, toMs: period.endMs }),
      forecastUsage(reader, filter, period, nowMs),
      readVolumes(reader, {}, { fromMs: today.fromMs, toMs: today.endMs }),
      countPendingMessages(bus),
    ]);
    const { id, bytesPerDay } = { id: caller.organization.planId, ...caller.plan.limits };
    const { bytes } = sumVolumes(todayVolumes).accepted;
    const toProjectedVolume = (scope: keyof typeof volumes | 'total', volume: Volume) => ({
      ...volume,
      forecast: { records: projection.records[scope], bytes: projection.bytes[scope] },
    });
    return {
      asOf: toIsoTime(nowMs),
      period: { from: toIsoTime(period.fromMs), to: toIsoTime(period.endMs) },
      plan: { id, name: caller.plan.name },
      today: {
        bytes,
        limitBytes: bytesPerDay,
        share: bytesPerDay === null ? toUnknownNumber('the plan has no limit') : toKnownNumber(bytes / bytesPerDay),
      },
      signals: {
        logs: toProjectedVolume('logs', volumes.logs),
        metrics: toProjectedVolume('metrics', volumes.metrics),
        traces: toProjectedVolume('traces', volumes.traces),
      },
      total: toProjectedVolume('total', sumVolumes(volumes)),
      pending: { messages },
    };
  },
});
