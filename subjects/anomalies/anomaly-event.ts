/** Events for the event feed about anomalies. */

import type { AnomalyChange } from '../../schemas/anomalies.ts';
import { type PlatformEvent, toEventTags } from '../../schemas/events.ts';
import { createNoDataEvent } from '../empty-results/empty-results.ts';
import type { DetectorFields } from './detector.ts';
import { describeAnomaly } from './scores/anomaly-text.ts';

const changeVerbs = { begin: 'began', worse: 'became worse', end: 'ended' } as const;

/** Returns the name of an anomaly's series: `service=checkout, region=eu`, or its measure. */
export const describeSeries = ({ name, labels }: Pick<AnomalyChange, 'name' | 'labels'>): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(', ') || name;

/** Converts a change of an anomaly to an event for the feed. */
export const toPlatformEvent = (change: AnomalyChange): PlatformEvent => {
  const { tenantId, projectId, id, number, detectorId, detectorName, labels, atMs, score } = change;
  const title = `${detectorName.slice(0, 120)}: anomaly ${changeVerbs[change.change]}${`, ${describeSeries(change)}`.slice(0, 100)}`;
  return {
    tenantId,
    projectId,
    id: `${id}.${number}`,
    kind: 'anomaly',
    at: new Date(atMs).toISOString(),
    severity: change.change === 'end' ? 'info' : 'warning',
    title,
    text: describeAnomaly(change),
    service: (labels['service'] ?? labels['service.name'] ?? '').slice(0, 512),
    environment: '',
    tags: toEventTags({ ...change.detectorLabels, ...labels }),
    link: '',
    actor: { type: 'system', id: 'anomalies' },
    details: { anomalyId: id, detectorId, change: change.change, direction: change.direction, score },
  };
};

/** Returns the event that a detector has had no data so far. */
export const createDetectorNoDataEvent = (
  { id, name, projectId }: Pick<DetectorFields, 'name' | 'projectId'> & { readonly id: string },
  { question, ...context }: { readonly tenantId: string; readonly atMs: number; readonly question: string },
): PlatformEvent =>
  createNoDataEvent(
    {
      title: `No data for the anomaly detector ${name}`,
      text: 'Its query has returned no series so far, so it cannot find anomalies. Check the names in its query.',
      details: { detectorId: id },
    },
    { ...context, projectId, version: question, actorId: 'anomalies' },
  );
