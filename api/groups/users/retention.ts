import { z } from 'zod';
import type { Organization } from '../../../schemas/resources/organization.ts';
import type { Plan } from '../../../schemas/resources/plan.ts';
import { signals } from '../../../schemas/telemetry-signals.ts';
import { createFieldErrors, type FieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { changeOrganization } from '../../resources/change-organization.ts';
import { formatEtag } from '../../resources/preconditions.ts';

const RetentionDays = z.strictObject({ logs: z.int(), metrics: z.int(), traces: z.int() });
const RequestedDays = z.int().min(1).max(3660).nullable().optional().describe('Days; null: as long as the plan allows');

const Retention = z.strictObject({
  days: z
    .strictObject({ logs: z.int().nullable(), metrics: z.int().nullable(), traces: z.int().nullable() })
    .describe('Configured days; null: as long as the plan allows'),
  effective: RetentionDays.describe('Effective retention in days, not counting today'),
  plan: RetentionDays.describe('Maximum days that the plan allows'),
});

const toRetentionView = ({ retentionDays }: Organization, plan: Plan): z.output<typeof Retention> => {
  const mapSignals = <Value>(toValue: (signal: (typeof signals)[number]) => Value) => ({
    logs: toValue('logs'),
    metrics: toValue('metrics'),
    traces: toValue('traces'),
  });
  return {
    days: mapSignals((signal) => retentionDays[signal] ?? null),
    effective: mapSignals((signal) =>
      Math.min(plan.retentionDays[signal], retentionDays[signal] ?? plan.retentionDays[signal]),
    ),
    plan: mapSignals((signal) => plan.retentionDays[signal]),
  };
};

export const getRetention = defineOperation({
  method: 'GET',
  path: '/api/account/retention',
  operationId: 'getRetention',
  summary: 'Get the retention of each signal, and what the plan allows',
  role: 'viewer',
  versions: 'shown',
  response: Retention,
  handler({ caller: { organization, plan }, request }) {
    request.reply('ETag', formatEtag(organization));
    return toRetentionView(organization, plan);
  },
});

export const putRetention = defineOperation({
  method: 'PUT',
  path: '/api/account/retention',
  operationId: 'setRetention',
  summary: 'Set the retention of each signal, within the plan. Older data is permanently deleted within an hour',
  role: 'admin',
  audit: 'organization.set-retention',
  versions: 'write',
  body: z.strictObject({
    days: z.strictObject({ logs: RequestedDays, metrics: RequestedDays, traces: RequestedDays }),
  }),
  serverOwned: ['effective', 'plan'],
  response: Retention,
  async handler(input) {
    const { body } = input;
    const { plan } = input.caller;
    requireWithinPlan(body.days, plan);
    const requestedEntries = signals.flatMap((signal) => {
      const value = body.days[signal];
      return value === undefined || value === null ? [] : [[signal, value] as const];
    });
    const organization = await changeOrganization(input, () => ({
      retentionDays: Object.fromEntries(requestedEntries),
    }));
    return toRetentionView(organization, plan);
  },
});

const requireWithinPlan = (requestedDays: Readonly<Record<string, number | null | undefined>>, plan: Plan): void => {
  const details = signals.flatMap((signal): FieldError[] => {
    const maxDays = plan.retentionDays[signal];
    if ((requestedDays[signal] ?? 0) <= maxDays) return [];
    return [{ path: `days.${signal}`, message: `the plan ${plan.name} stores ${signal} for at most ${maxDays} days` }];
  });
  if (details.length > 0) throw createFieldErrors(details);
};
