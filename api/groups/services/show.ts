import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Incompleteness, Unknown } from '../../../queries/result.ts';
import { apdexParameter, choiceParameters } from '../../../subjects/services/chosen-activity.ts';
import { readServiceParts, ServiceParts } from '../../../subjects/services/detail.ts';
import { emptyService, readService, ServiceTotal } from '../../../subjects/services/inventory.ts';
import { minutesAnswer, minutesFields } from '../../../subjects/services/minutes.ts';
import { serviceSettingsOf } from '../../../subjects/services/settings.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { parseMinutes, requireService, serviceParams } from './parameters.ts';

const { from, to } = rangeParameters;

export const showService = defineOperation({
  method: 'GET',
  path: '/api/services/{name}',
  operationId: 'showService',
  summary: 'Get a service in a time range: metrics, instances, versions, runtimes, SDKs, dependencies',
  role: 'viewer',
  cache: listCache,
  params: serviceParams,
  query: z.strictObject({ from, to, ...projectScopeParameters, ...choiceParameters, ...apdexParameter }),
  response: z.strictObject({
    ...minutesFields,
    ...ServiceTotal.shape,
    lastSeen: z.union([z.string(), Unknown]).describe('In the range'),
    ...ServiceParts.shape,
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, params, query }, ports) {
    const reading = readingOf(caller, ports);
    const { minutes } = parseMinutes('service', query, reading);
    const question = {
      ...query,
      minutes,
      service: params.name,
      settings: await serviceSettingsOf(ports.documents.of(caller.tenantId)),
    };
    const [total, { parts, partial }] = await Promise.all([
      readService(reading, question),
      readServiceParts(reading, question),
    ]);
    if (total === undefined) await requireService(reading, question);
    return { ...minutesAnswer(minutes), ...(total ?? emptyService(params.name)), ...parts, partial: [...partial] };
  },
});
