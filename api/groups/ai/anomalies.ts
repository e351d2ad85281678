import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { anomalyDetectors } from '../../../schemas/resources/anomaly-detector.ts';
import { anomalyFeedback, buildFeedbackId } from '../../../schemas/resources/anomaly-feedback.ts';
import { type Contributions, readContributions } from '../../../subjects/anomalies/contributions.ts';
import { parseStoredDetector } from '../../../subjects/anomalies/detector.ts';
import {
  findAnomaly,
  readAnomalies,
  readScores,
  type StoredAnomaly,
} from '../../../subjects/anomalies/read-anomalies.ts';
import { FeedEvent } from '../../../subjects/events/events.ts';
import { finishHistoryPage, historyParameters, parseHistoryPage } from '../../../subjects/events/history-page.ts';
import { KubernetesEvent } from '../../../subjects/kubernetes/events.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { AnomalyView, toAnomalyView } from './anomaly-view.ts';
import { readClusterEventsNear, readEventsNear, toRange } from './near.ts';
import { readFeedback } from './stored-feedback.ts';

export const anomalyParams = z.strictObject({ id: z.string().min(1).max(256) });

export const listAnomalies = defineOperation({
  method: 'GET',
  path: '/api/ai/anomalies',
  operationId: 'listAnomalies',
  summary: 'List anomalies, the most recently begun first',
  role: 'viewer',
  query: z.strictObject({
    ...historyParameters,
    ...projectScopeParameters,
    detectorId: z.string().min(1).max(128).optional(),
    state: z.enum(['open', 'ended']).optional().describe('open: still in progress'),
    direction: z.enum(['up', 'down', 'other']).optional(),
  }),
  response: z.strictObject({ items: z.array(AnomalyView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const page = parseHistoryPage('anomalies', query, reader);
    const { shown: pageAnomalies, nextCursor } = finishHistoryPage(
      'anomalies',
      await readAnomalies(reader, query, page),
      {
        ...page,
        limit: query.limit,
        getId: ({ id }) => id,
      },
    );
    const ids = [...new Set(pageAnomalies.map(({ detectorId, key }) => buildFeedbackId(detectorId, key)))];
    const matchingFeedback =
      ids.length === 0 ? [] : await readFeedback(ports.documents.forTenant(caller.tenantId), { id: { $in: ids } });
    return { items: pageAnomalies.map((pageAnomaly) => toAnomalyView(pageAnomaly, matchingFeedback)), nextCursor };
  },
});

const GroupContribution = z.strictObject({ group: z.string(), change: z.number(), share: z.number() });
const NullableNumber = z.number().nullable();

/** Number of steps of the series in the response: before the anomaly, after it, and in total. */
const pointLimits = { before: 60, after: 20, max: 1000 };
const similarityWindowMs = 90 * 86_400_000;

export const showAnomaly = defineOperation({
  method: 'GET',
  path: '/api/ai/anomalies/{id}',
  operationId: 'showAnomaly',
  summary: 'Get an anomaly: the expected values, the contributing groups, changes near it, and similar anomalies',
  role: 'viewer',
  params: anomalyParams,
  response: z.strictObject({
    ...AnomalyView.shape,
    points: z
      .array(z.tuple([z.number(), z.number(), NullableNumber, NullableNumber, NullableNumber, z.number(), z.boolean()]))
      .describe(
        'Start of the step in epoch milliseconds, value, expected, low, high, score, and whether it is anomalous',
      ),
    contributions: z
      .strictObject({
        by: z.string().nullable().describe('Field that best separates the anomaly; null: see the reason'),
        change: NullableNumber.describe(
          'Change of all groups: the mean of its steps minus the mean of as many steps before it',
        ),
        groups: z
          .array(GroupContribution)
          .describe('Group with the largest share; the shares of all groups add up to 1'),
        others: GroupContribution.nullable(),
        reason: z.string().nullable(),
      })
      .describe('Change of each group'),
    near: z.array(FeedEvent).describe('Events from an hour before its start to ten minutes after, the newest first'),
    kubernetes: z
      .array(KubernetesEvent)
      .describe('Kubernetes events in that time, the newest first: at most 50 warnings and 50 others'),
    similar: z.array(AnomalyView).describe('Anomalies of the same series in the same direction, from the last 90 days'),
    concurrent: z.array(AnomalyView).describe('Anomalies of other series that began within a few steps'),
    partial: z.array(Incompleteness),
  }),
  async handler({ caller, params, signal }, ports) {
    const reader = createQueryReader(caller, ports);
    const anomaly = await findAnomaly(reader, params.id);
    if (anomaly === undefined) throw createNotFoundError('anomaly');
    const { beginMs, endMs, stepMs } = anomaly;
    const partial: z.output<typeof Incompleteness>[] = [];
    const tenantDocuments = ports.documents.forTenant(caller.tenantId);
    const [points, contributions, events, clusterEvents, similar, concurrent, feedback] = await Promise.all([
      readScores(reader, anomaly, {
        fromMs: beginMs - pointLimits.before * stepMs,
        toMs: (endMs ?? reader.nowMs) + pointLimits.after * stepMs,
        limit: pointLimits.max,
      }),
      findContributions(anomaly, { caller, ports, signal }),
      readEventsNear(anomaly, { caller, ports, partial }),
      readClusterEventsNear(anomaly, { reader, partial }),
      readAnomalies(
        reader,
        { detectorId: anomaly.detectorId, series: anomaly.key, direction: anomaly.direction },
        { range: toRange(Math.max(0, beginMs - similarityWindowMs), beginMs - 1), limit: 10 },
      ),
      readAnomalies(reader, {}, { range: toRange(beginMs - 5 * stepMs, beginMs + 5 * stepMs), limit: 21 }),
      tenantDocuments.collection(anomalyFeedback).find(buildFeedbackId(anomaly.detectorId, anomaly.key)),
    ]);
    const ownFeedback = feedback === undefined ? [] : [feedback];
    return {
      ...toAnomalyView(anomaly, ownFeedback),
      points: points.map((point): [number, number, number | null, number | null, number | null, number, boolean] => [
        ...point,
      ]),
      contributions: { ...contributions, groups: [...contributions.groups] },
      near: events,
      kubernetes: clusterEvents,
      similar: similar.map((storedAnomaly) => toAnomalyView(storedAnomaly, ownFeedback)),
      concurrent: concurrent
        .filter(({ id }) => id !== anomaly.id)
        .map((storedAnomaly) => toAnomalyView(storedAnomaly, [])),
      partial,
    };
  },
});

interface RequestContext {
  readonly caller: Caller;
  readonly ports: Ports;
}

/**
 * Returns the groups that contributed to the anomaly; a reason if they cannot be determined, because the rest of the
 * response is still useful.
 */
const findContributions = async (
  anomaly: StoredAnomaly,
  { caller, ports, signal }: RequestContext & { readonly signal: AbortSignal },
): Promise<Contributions> => {
  const noContributions = { by: null, change: null, groups: [], others: null };
  const stored = await ports.documents.forTenant(caller.tenantId).collection(anomalyDetectors).find(anomaly.detectorId);
  const detector = stored && parseStoredDetector(stored);
  if (detector === undefined)
    return { ...noContributions, reason: 'its detector, which defined the query, was deleted' };
  try {
    return await readContributions(detector.query, anomaly, { reader: createQueryReader(caller, ports), signal });
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof ApiError || error instanceof Error ? error.message : '';
    return { ...noContributions, reason: `the contributing groups could not be read: ${message}` };
  }
};
