import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { Result, Unknown } from '../../../queries/result.ts';
import { resolveStepMs, stepParameter } from '../../../queries/steps.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { type IncidentState, incidents } from '../../../schemas/resources/incident.ts';
import { parseEventsRange } from '../../../subjects/events/events.ts';
import { Attention, readAttention } from '../../../subjects/overview/attention.ts';
import { Counters, readCounters } from '../../../subjects/overview/counters.ts';
import { PlatformState, toPlatformState } from '../../../subjects/overview/platform.ts';
import { readOverviewSeries } from '../../../subjects/overview/series.ts';
import { formatMinutes, minuteMs, minutesFields, toFullMinutes } from '../../../subjects/services/minutes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { findBlockedDetectors } from '../ai/blocked-detectors.ts';
import { findManagedRules } from '../alerts/managed-rules.ts';
import { listFiringPlatformAlerts } from '../alerts/platform-alerts.ts';
import { readDecisions } from '../errors/stored-decisions.ts';

const rangeFields = { from: rangeParameters.from, to: rangeParameters.to };

/** Maximum number of open and of acknowledged incidents that are read, the newest ones. */
const maxIncidents = 500;

const readOngoingIncidents = async (documents: Pick<Documents, 'forTenant'>, tenantId: string) => {
  const incidentCollection = documents.forTenant(tenantId).collection(incidents);
  const readByStatus = async (status: IncidentState) =>
    (await incidentCollection.list({ filter: { status }, sort: { openedAt: -1 }, limit: maxIncidents })).items;
  return [...(await readByStatus('open')), ...(await readByStatus('acknowledged'))];
};

export const showOverview = defineOperation({
  method: 'GET',
  path: '/api/overview',
  operationId: 'showOverview',
  summary: 'Get counters for all signals in a time range of whole minutes, with the preceding range for comparison',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...rangeFields,
    ...projectScopeParameters,
    attention: z.enum(['true']).optional().describe('true: also return the items that need attention in the range'),
  }),
  response: z.strictObject({
    ...minutesFields,
    previous: z.strictObject({ from: z.string(), to: z.string() }),
    counters: Counters.describe('Values that the plan does not include or retain are unknown, with the reason'),
    lastRecord: z
      .union([z.string(), Unknown])
      .describe('Time of the newest log record or span in the range; later data is not counted yet'),
    attention: Attention.optional().describe('Only if requested'),
    platform: PlatformState,
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const minutes = toFullMinutes(parseEventsRange(query, reader), reader.nowMs);
    const { counters, previous: previousMinutes, last } = await readCounters(reader, { ...query, minutes });
    const alerts = await listFiringPlatformAlerts(ports.documents, caller.tenantId, reader.nowMs);
    const attention =
      query.attention &&
      (await readAttention(reader, {
        ...query,
        minutes,
        previousMinutes,
        decisions: await readDecisions(ports.documents, caller.tenantId),
        platformAlerts: alerts,
        incidents: await readOngoingIncidents(ports.documents, caller.tenantId),
        managedRules: findManagedRules(ports.documents.forTenant(caller.tenantId)),
        detectors: await findBlockedDetectors(caller, ports),
      }));
    return {
      ...formatMinutes(minutes),
      previous: formatMinutes(previousMinutes),
      counters,
      lastRecord: last ?? { value: null, reason: 'there is no log record and no span in the range' },
      ...(attention && { attention }),
      platform: toPlatformState(alerts, ports.groupStatuses.getStatuses()),
    };
  },
});

export const listOverviewSeries = defineOperation({
  method: 'GET',
  path: '/api/overview/timeseries',
  operationId: 'getOverviewTimeseries',
  summary:
    'Get series of the counters in steps of whole minutes: logs, errorLogs, spans, requests, errors, errorRate, p95',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({ ...rangeFields, ...projectScopeParameters, ...stepParameter }),
  response: Result,
  async handler({ caller, query }, ports) {
    const startedMs = performance.now();
    const reader = createQueryReader(caller, ports);
    const minutes = toFullMinutes(parseEventsRange(query, reader), reader.nowMs);
    const stepMs = resolveStepMs(query.step, { from: minutes.from, to: minutes.to - 1n }, { minMs: minuteMs });
    const overviewSeries = await readOverviewSeries(reader, { ...query, minutes, stepMs });
    return {
      ...overviewSeries,
      ...formatMinutes(minutes),
      stepMs,
      cost: { rowsRead: 0, bytesRead: 0, elapsedMs: performance.now() - startedMs, isCached: false },
      freshness: { value: null, reason: 'not known yet' },
    };
  },
});
