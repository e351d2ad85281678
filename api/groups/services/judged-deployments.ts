import { z } from 'zod';
import { encodeCursor } from '../../../queries/cursor.ts';
import { projectScopeParameters, requireProjectScope } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters } from '../../../queries/range.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { positionPart, sortedPage } from '../../../queries/sorted-page.ts';
import { apdexParameter, choiceParameters } from '../../../subjects/services/chosen-activity.ts';
import { readDeployments } from '../../../subjects/services/deployments.ts';
import { thresholdsOf } from '../../../subjects/services/figures.ts';
import { minutesOf } from '../../../subjects/services/minutes.ts';
import { serviceSettingsOf } from '../../../subjects/services/settings.ts';
import { JudgedDeployment, toJudgedDeployment, withMargin } from '../../../subjects/services/verdicts.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { cursorOf, requireService, serviceParams } from './parameters.ts';

const kind = 'service-deployments';

export const listServiceDeployments = defineOperation({
  method: 'GET',
  path: '/api/services/{name}/deployments',
  operationId: 'listServiceDeployments',
  summary: 'List deployments of a service, the newest first, with its metrics before and after each and a verdict',
  role: 'viewer',
  cache: listCache,
  params: serviceParams,
  query: z.strictObject({
    ...rangeParameters,
    from: rangeParameters.from.describe('Default: now-24h'),
    limit: z.coerce.number().int().min(1).max(100).default(20),
    ...projectScopeParameters,
    ...choiceParameters,
    ...apdexParameter,
  }),
  response: z.strictObject({
    items: z.array(JudgedDeployment),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, params, query }, ports) {
    requireProjectScope(query);
    const reading = readingOf(caller, ports);
    const { nowMs } = reading;
    const page = query.cursor === undefined ? undefined : cursorOf(kind, query.cursor, reading);
    const rangeQuery = { ...query, from: query.from ?? 'now-24h' };
    const range = page?.range ?? rangeOf(rangeQuery, { caller: reading, signal: 'traces', nowMs });
    const choice = { ...query, service: params.name };
    await requireService(reading, { ...choice, minutes: minutesOf(range, nowMs) });
    const settings = await serviceSettingsOf(ports.documents.of(caller.tenantId));
    const apdexThresholdMs = thresholdsOf(settings, query.apdexThresholdMs)(params.name);
    const [{ deployments, partial }, { deployments: all }] = await Promise.all([
      readDeployments(reading, { ...choice, range }),
      readDeployments(reading, { ...choice, environment: undefined, range: withMargin(range) }),
    ]);
    const { shown, last } = sortedPage(
      deployments,
      { nameOf: ({ id }) => id, sortedBy: ({ time }) => time, direction: 'descending' },
      { limit: query.limit, after: page?.after },
    );
    const items: JudgedDeployment[] = [];
    // Sequentially: a page with many deployments must not occupy all connections of the engine.
    for (const deployment of shown)
      items.push(await toJudgedDeployment(reading, choice, deployment, { all, apdexThresholdMs }));
    return {
      items,
      nextCursor: last === undefined ? null : encodeCursor(kind, [range.from, range.to, positionPart(last)]),
      partial: [...partial],
    };
  },
});
