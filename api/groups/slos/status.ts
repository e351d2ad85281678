import { z } from 'zod';
import { sloPolicies } from '../../../schemas/resources/slo-policy.ts';
import { readExclusions } from '../../../subjects/slos/exclusions.ts';
import { readPolicy } from '../../../subjects/slos/policy.ts';
import { statusOf } from '../../../subjects/slos/status.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { measurementFields, sloFigures } from './figures.ts';
import { foundSlo } from './found.ts';

const Status = z.strictObject({
  ...sloFigures,
  withMaintenance: z
    .strictObject(sloFigures)
    .nullable()
    .describe('The same with the maintenance that is left out; null where nothing is'),
  burnRates: z
    .array(z.strictObject({ window: z.string(), rate: z.number().nullable(), good: z.number(), total: z.number() }))
    .describe('How many times faster than it may the budget is spent, over the windows of its rules'),
  policy: z
    .strictObject({
      frozen: z.boolean().describe('Whether a step holds that says that nothing is to be deployed'),
      steps: z.array(
        z.strictObject({
          name: z.string(),
          freeze: z.boolean(),
          labels: z.record(z.string(), z.string()),
          isMet: z.boolean().nullable().describe('Null where nothing is known'),
        }),
      ),
    })
    .nullable()
    .describe('How its error-budget policy stands; null without one'),
  window: z.strictObject({ from: z.iso.datetime(), to: z.iso.datetime() }),
  ...measurementFields,
});

export const getSloStatus = defineOperation({
  method: 'GET',
  path: '/api/slos/{id}/status',
  operationId: 'getSloStatus',
  summary: 'How an objective stands: indicator, budget left, burn rates, coverage',
  role: 'viewer',
  params: idParameter,
  response: Status,
  async handler({ caller, params }, ports) {
    const slo = await foundSlo(params.id, caller, ports);
    const documents = ports.documents.of(caller.tenantId);
    const policy = readPolicy(await documents.collection(sloPolicies).find(slo.id));
    const maintenance = await readExclusions(documents, [slo.slo]);
    return statusOf(readingOf(caller, ports), slo, { nowMs: ports.clock.now(), maintenance, policy });
  },
});
