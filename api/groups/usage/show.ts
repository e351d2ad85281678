import { z } from 'zod';
import { readVolumes, totalOf } from '../../../queries/ledger/ledger.ts';
import { iso, monthParameter, periodOf, project } from '../../../queries/ledger/period.ts';
import { Known, known, unknown } from '../../../queries/ledger/unknown.ts';
import { Volume } from '../../../queries/ledger/volume.ts';
import { ledgerGroups } from '../../../runtime/ledger-groups.ts';
import type { Bus } from '../../../schemas/ports/bus.ts';
import { quotaWindowAt } from '../../../schemas/resources/quota.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { Period, PlanRef, usageCache } from './views.ts';

const Projected = z.strictObject({
  ...Volume.shape,
  forecast: z
    .strictObject({ records: Known, bytes: Known })
    .describe(
      'Accepted, when the period ends: the mean of the last complete days, a week of them at most, for each day left',
    ),
});

const Usage = z.strictObject({
  asOf: z.string().describe('The answer is at most 5 minutes old; `Cache-Control: no-cache` asks anew'),
  period: Period,
  plan: PlanRef,
  today: z.strictObject({
    bytes: z.int().describe('Accepted since 00:00 UTC'),
    limitBytes: z.int().nullable().describe('The plan’s bytes a day; null is without limit'),
    share: Known.describe('Of the limit, 1 is all of it'),
  }),
  signals: z.strictObject({ logs: Projected, metrics: Projected, traces: Projected }),
  total: Projected,
  pending: z
    .strictObject({ messages: Known })
    .describe('Messages of the whole installation that are durable and not counted here yet'),
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
  summary: 'What was accepted, landed, refused and rejected in a month, by signal, against the plan, with a forecast',
  role: 'viewer',
  cache: usageCache,
  query: z.strictObject({
    ...monthParameter,
    projectId: z.string().min(1).max(128).optional().describe('This project only; the plan’s day counts all of them'),
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
