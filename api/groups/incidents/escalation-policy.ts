import { z } from 'zod';
import { parseMilliseconds } from '../../../queries/range.ts';
import { timeParameter } from '../../../queries/time-parameters.ts';
import { previewEscalation } from '../../../subjects/on-call/escalation.ts';
import { readResponders } from '../../../subjects/on-call/people.ts';
import { readEscalationPolicy } from '../../../subjects/on-call/read-on-call.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { escalationPolicyResource, PolicyView } from './escalation-policies.ts';

const PreviewStep = z.strictObject({
  at: z.iso.datetime(),
  pages: z.array(
    z.strictObject({
      round: z.int(),
      step: z.int().nullable().describe('Index from 0; null if the owners are paged'),
      kind: z.enum(['person', 'channel']),
      id: z.string(),
      name: z.string(),
    }),
  ),
  skipped: z
    .array(z.strictObject({ step: z.int(), reason: z.enum(['outside-hours', 'nobody-on-call']) }))
    .describe('Steps that would page nobody'),
});

export const getEscalationPolicy = defineOperation({
  method: 'GET',
  path: '/api/on-call/escalation-policies/{id}',
  operationId: 'getEscalationPolicy',
  summary: 'Get an escalation policy; preview=true shows who would be paged when, if nobody acknowledged',
  role: 'viewer',
  versions: 'read',
  params: idParameter,
  query: z.strictObject({
    preview: z.enum(['true', 'false']).default('false'),
    at: timeParameter.optional().describe('Opening time of the incident in the preview; default: now'),
  }),
  response: z.strictObject({
    ...PolicyView.shape,
    preview: z.array(PreviewStep).optional().describe('With preview=true'),
  }),
  async handler(input, ports) {
    const { caller, params, query } = input;
    const { documents, clock } = ports;
    const { tenantId } = caller;
    const policy = await readEscalationPolicy(documents.forTenant(tenantId), params.id);
    if (policy === undefined) throw createNotFoundError(escalationPolicyResource.noun);
    if (query.preview === 'false') return escalationPolicyResource.sendView(policy, input, ports);
    const nowMs = clock.now();
    const openedMs = parseMilliseconds('at', query.at, nowMs) ?? nowMs;
    const steps = await previewEscalation(policy, openedMs, (atMs) =>
      readResponders(documents, tenantId, { policy, atMs, nowMs }),
    );
    return {
      ...(await escalationPolicyResource.toView(policy, { caller, ports })),
      preview: steps.map(({ atMs, responders, pages, notes }) => ({
        at: new Date(atMs).toISOString(),
        pages: pages.map(({ round, step, to }) => ({ round, step, ...to, name: responders.getName(to) })),
        skipped: notes.flatMap(({ step, reason }) =>
          step === undefined || reason === undefined ? [] : [{ step, reason }],
        ),
      })),
    };
  },
});
