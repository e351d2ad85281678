import { z } from 'zod';
import { retroHunts } from '../../../schemas/resources/retro-hunt.ts';
import { defineOperation } from '../../kernel/operation.ts';

const maxRuleIds = 20;

export const listRetroHunts = defineOperation({
  method: 'GET',
  path: '/api/siem/retro-hunts',
  operationId: 'listRetroHunts',
  summary: 'List the latest runs of new rules on previously stored records, the newest first',
  role: 'viewer',
  query: z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(20) }),
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.string(),
        status: z.enum(['running', 'finished', 'failed']),
        ruleIds: z.array(z.string()).describe(`The first ${maxRuleIds}`),
        rules: z.int(),
        from: z.iso.datetime(),
        to: z.iso.datetime(),
        records: z.int().describe('Number of records that were evaluated'),
        signals: z.int().describe('Includes signals that the stream had already found'),
        isComplete: z.boolean().describe('false if there were more records or signals than the limits of a run'),
        message: z.string().describe('Why the run failed'),
        createdAt: z.iso.datetime(),
      }),
    ),
  }),
  async handler({ caller, query }, { documents }) {
    const stored = documents.forTenant(caller.tenantId).collection(retroHunts);
    const { items } = await stored.list({ sort: { createdAt: -1 }, limit: query.limit });
    return {
      items: items.map(({ id, status, ruleIds, fromMs, toMs, records, signals, isComplete, message, createdAt }) => ({
        id,
        status,
        ruleIds: ruleIds.slice(0, maxRuleIds),
        rules: ruleIds.length,
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        records,
        signals,
        isComplete,
        message,
        createdAt,
      })),
    };
  },
});
