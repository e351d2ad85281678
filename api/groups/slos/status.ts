import { z } from 'zod';
import { sloPolicies } from '../../../schemas/resources/slo-policy.ts';
import { readExclusions } from '../../../subjects/slos/exclusions.ts';
import { hasNoData } from '../../../subjects/slos/overdue-measurements.ts';
import { readPolicy } from '../../../subjects/slos/policy.ts';
import { readStatus } from '../../../subjects/slos/status.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findSlo } from './find-slo.ts';
import { HasNoData, measurementFields, SloWarnings, sloMetricFields } from './measurement-fields.ts';
import { readSloWarnings } from './warnings.ts';

const Status = z.strictObject({
  ...sloMetricFields,
  hasNoData: HasNoData,
  warnings: SloWarnings,
  withMaintenance: z
    .strictObject(sloMetricFields)
    .nullable()
    .describe('The same values with excluded maintenance counted; null if none is excluded'),
  burnRates: z
    .array(z.strictObject({ window: z.string(), rate: z.number().nullable(), good: z.number(), total: z.number() }))
    .describe('How many times faster than allowed the budget is spent, over the windows of its rules'),
  policy: z
    .strictObject({
      frozen: z.boolean().describe('Whether a policy step is active that freezes deployments'),
      steps: z.array(
        z.strictObject({
          name: z.string(),
          freeze: z.boolean(),
          labels: z.record(z.string(), z.string()),
          isMet: z.boolean().nullable().describe('null if unknown'),
        }),
      ),
    })
    .nullable()
    .describe('Status of its error-budget policy; null without a policy'),
  window: z.strictObject({ from: z.iso.datetime(), to: z.iso.datetime() }),
  ...measurementFields,
});

export const getSloStatus = defineOperation({
  method: 'GET',
  path: '/api/slos/{id}/status',
  operationId: 'getSloStatus',
  summary: 'Get the status of an SLO: SLI, remaining budget, burn rates, coverage',
  role: 'viewer',
  params: idParameter,
  response: Status,
  async handler({ caller, params }, ports) {
    const slo = await findSlo(params.id, caller, ports);
    const documents = ports.documents.forTenant(caller.tenantId);
    const policy = readPolicy(await documents.collection(sloPolicies).find(slo.id));
    const maintenance = await readExclusions(documents, [slo.slo]);
    const nowMs = ports.clock.now();
    const reader = createQueryReader(caller, ports);
    const [status, warnings] = await Promise.all([
      readStatus(reader, slo, { nowMs, maintenance, policy }),
      readSloWarnings(slo.slo, { reader, nowMs, log: ports.log }),
    ]);
    return { ...status, warnings, hasNoData: hasNoData(status, slo, nowMs) };
  },
});
