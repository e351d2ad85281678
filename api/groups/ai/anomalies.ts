import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { Incompleteness } from '../../../queries/result.ts';
import { anomalyDetectors } from '../../../schemas/resources/anomaly-detector.ts';
import { anomalyFeedback, feedbackId } from '../../../schemas/resources/anomaly-feedback.ts';
import { type Contributions, readContributions } from '../../../subjects/anomalies/contributions.ts';
import { readDetector } from '../../../subjects/anomalies/detector.ts';
import { findAnomaly, readAnomalies, readScores, type StoredAnomaly } from '../../../subjects/anomalies/stored.ts';
import { FeedEvent } from '../../../subjects/events/events.ts';
import { cutHistoryPage, historyPageOf, historyParameters } from '../../../subjects/events/history-page.ts';
import { KubernetesEvent } from '../../../subjects/kubernetes/events.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { readingOf } from '../../kernel/reading.ts';
import { AnomalyView, anomalyView } from './anomaly-view.ts';
import { clusterEventsNear, eventsNear, rangeOf } from './near.ts';
import { feedbackOf } from './stored-feedback.ts';

export const anomalyId = z.strictObject({ id: z.string().min(1).max(256) });

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
    const reading = readingOf(caller, ports);
    const page = historyPageOf('anomalies', query, reading);
    const { shown, nextCursor } = cutHistoryPage('anomalies', await readAnomalies(reading, query, page), {
      ...page,
      limit: query.limit,
      idOf: ({ id }) => id,
    });
    const ids = [...new Set(shown.map(({ detectorId, key }) => feedbackId(detectorId, key)))];
    const feedback =
      ids.length === 0 ? [] : await feedbackOf(ports.documents.of(caller.tenantId), { id: { $in: ids } });
    return { items: shown.map((each) => anomalyView(each, feedback)), nextCursor };
  },
});

const Part = z.strictObject({ group: z.string(), change: z.number(), share: z.number() });
const bound = z.number().nullable();

/** Number of steps of the series in an anomaly's answer: before it, after it, and in total. */
const shown = { before: 60, after: 20, max: 1000 };
const similarMs = 90 * 86_400_000;

export const showAnomaly = defineOperation({
  method: 'GET',
  path: '/api/ai/anomalies/{id}',
  operationId: 'showAnomaly',
  summary: 'Get an anomaly: the expected values, the contributing groups, changes near it, and similar anomalies',
  role: 'viewer',
  params: anomalyId,
  response: z.strictObject({
    ...AnomalyView.shape,
    points: z
      .array(z.tuple([z.number(), z.number(), bound, bound, bound, z.number(), z.boolean()]))
      .describe(
        'Start of the step in epoch milliseconds, value, expected, low, high, score, and whether it is anomalous',
      ),
    contributions: z
      .strictObject({
        by: z.string().nullable().describe('Field that best separates the anomaly; null: see the reason'),
        change: bound.describe('Change of all groups: the mean of its steps minus the mean of as many steps before it'),
        groups: z.array(Part).describe('Group with the largest share; the shares of all groups add up to 1'),
        others: Part.nullable(),
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
    const reading = readingOf(caller, ports);
    const anomaly = await findAnomaly(reading, params.id);
    if (anomaly === undefined) throw notFound('anomaly');
    const { beginMs, endMs, stepMs } = anomaly;
    const partial: z.output<typeof Incompleteness>[] = [];
    const own = ports.documents.of(caller.tenantId);
    const [points, contributions, events, clusterEvents, similar, concurrent, feedback] = await Promise.all([
      readScores(reading, anomaly, {
        fromMs: beginMs - shown.before * stepMs,
        toMs: (endMs ?? reading.nowMs) + shown.after * stepMs,
        limit: shown.max,
      }),
      contributionsOf(anomaly, { caller, ports, signal }),
      eventsNear(anomaly, { caller, ports, partial }),
      clusterEventsNear(anomaly, { reading, partial }),
      readAnomalies(
        reading,
        { detectorId: anomaly.detectorId, series: anomaly.key, direction: anomaly.direction },
        { range: rangeOf(Math.max(0, beginMs - similarMs), beginMs - 1), limit: 10 },
      ),
      readAnomalies(reading, {}, { range: rangeOf(beginMs - 5 * stepMs, beginMs + 5 * stepMs), limit: 21 }),
      own.collection(anomalyFeedback).find(feedbackId(anomaly.detectorId, anomaly.key)),
    ]);
    const marks = feedback === undefined ? [] : [feedback];
    return {
      ...anomalyView(anomaly, marks),
      points: points.map((point): [number, number, number | null, number | null, number | null, number, boolean] => [
        ...point,
      ]),
      contributions: { ...contributions, groups: [...contributions.groups] },
      near: events,
      kubernetes: clusterEvents,
      similar: similar.map((each) => anomalyView(each, marks)),
      concurrent: concurrent.filter(({ id }) => id !== anomaly.id).map((each) => anomalyView(each, [])),
      partial,
    };
  },
});

interface RequestContext {
  readonly caller: Caller;
  readonly ports: Ports;
}

/**
 * The groups that contributed to the anomaly; a reason if they cannot be determined, because the rest of the answer is
 * still useful.
 */
const contributionsOf = async (
  anomaly: StoredAnomaly,
  { caller, ports, signal }: RequestContext & { readonly signal: AbortSignal },
): Promise<Contributions> => {
  const none = { by: null, change: null, groups: [], others: null };
  const stored = await ports.documents.of(caller.tenantId).collection(anomalyDetectors).find(anomaly.detectorId);
  const detector = stored && readDetector(stored);
  if (detector === undefined) return { ...none, reason: 'its detector, which defined the counted value, was deleted' };
  try {
    return await readContributions(detector.query, anomaly, { reading: readingOf(caller, ports), signal });
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof ApiError || error instanceof Error ? error.message : '';
    return { ...none, reason: `its parts could not be read: ${message}` };
  }
};
