/** What an anomaly says in the event feed. */

import type { AnomalyChange } from '../../schemas/anomalies.ts';
import { eventTags, type PlatformEvent } from '../../schemas/events.ts';

const verbs = { begin: 'began', worse: 'became worse', end: 'ended' } as const;
const what: Readonly<Record<AnomalyChange['sign'], string>> = {
  ...{ up: 'higher than expected', down: 'lower than expected' },
  ...{ jumpUp: 'risen and stays there', jumpDown: 'fallen and stays there' },
  ...{ driftUp: 'rising slowly', driftDown: 'falling slowly' },
  ...{ noise: 'strays more than usual', flat: 'stands still, which it does not usually' },
};

const digits = (value: number): string => String(Number(value.toPrecision(4)));

/** The series of an anomaly for people: `service=checkout, region=eu`, or its measure. */
export const seriesText = ({ name, labels }: Pick<AnomalyChange, 'name' | 'labels'>): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(', ') || name;

/** What is unusual, in a sentence. */
export const anomalyText = ({
  sign,
  value,
  unit,
  low,
  high,
  before,
}: Pick<AnomalyChange, 'sign' | 'value' | 'unit' | 'low' | 'high' | 'before'>): string => {
  const measured = `${digits(value)}${unit === '' ? '' : ` ${unit}`}`;
  const band = low === null || high === null ? '' : `, usual are ${digits(low)} to ${digits(high)}`;
  const was = before === null ? '' : `, expected were ${digits(before)}`;
  return `${what[sign]}: ${measured}${was}${band}`;
};

/** A change of an anomaly for the event feed. */
export const toldEvent = (change: AnomalyChange): PlatformEvent => {
  const { tenantId, projectId, id, number, detectorId, detectorName, labels, atMs, score } = change;
  const title = `${detectorName.slice(0, 120)}: anomaly ${verbs[change.change]}${`, ${seriesText(change)}`.slice(0, 100)}`;
  return {
    ...{ tenantId, projectId, id: `${id}.${number}`, kind: 'anomaly', at: new Date(atMs).toISOString() },
    severity: change.change === 'end' ? 'info' : 'warning',
    title,
    text: anomalyText(change),
    service: (labels['service'] ?? labels['service.name'] ?? '').slice(0, 512),
    environment: '',
    tags: eventTags({ ...change.detectorLabels, ...labels }),
    ...{ link: '', actor: { type: 'system', id: 'anomalies' } },
    details: { anomalyId: id, detectorId, change: change.change, direction: change.direction, score },
  };
};
