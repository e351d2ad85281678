/** Creates matches of indicators in records, and groups them by indicator and entity */

import { computeHashId } from '../../runtime/hash-id.ts';
import type { ThreatMatch } from '../../schemas/threat-matches.ts';
import { EventPaths, SigmaEvent } from '../detections/event.ts';
import { type EntityType, entityFields } from '../detections/fields/entities.ts';
import { fieldTables } from '../detections/fields/index.ts';
import { foldName } from '../detections/fields/table.ts';
import { fillEvent, type RecordValues } from '../detections/record-event.ts';
import type { Sighting } from './match.ts';

/** Time in which matches of an indicator and an entity are grouped */
export const groupingWindowMs = 3_600_000;
const maxObservedLength = 512;

const paths = new EventPaths(fieldTables);

/** Returns the event of a record in which indicators are searched. */
export const toEvent = (values: RecordValues): SigmaEvent => fillEvent(new SigmaEvent(paths), values);

const listEntityFieldNames = (type: EntityType): string[] => entityFields[type].flat().map(foldName);
const hostFields = listEntityFieldNames('host');
const userFields = listEntityFieldNames('user');

const findFirstValue = (event: SigmaEvent, names: readonly string[]): string => {
  for (const name of names) {
    const text = event.get(name)?.text ?? '';
    if (text !== '' && text !== '-') return text.slice(0, maxObservedLength);
  }
  return '';
};

/** Organization, project and identity of a record */
export interface RecordIdentity {
  readonly tenantId: string;
  readonly projectId: string;
  readonly recordId: string;
  readonly timeMs: number;
  readonly service: string;
}

/** Returns the key of an indicator and entity, by which matches are grouped. */
export const createMatchKey = ({
  type,
  value,
  source,
  projectId,
  service,
  host,
  user,
}: Pick<ThreatMatch, 'type' | 'value' | 'source' | 'projectId' | 'service' | 'host' | 'user'>): string =>
  JSON.stringify([type, value, source, projectId, service, host, user]);

/** Returns the match of one record. */
export const createMatch = (
  { indicator, field, observed }: Sighting,
  { tenantId, projectId, recordId, timeMs, service }: RecordIdentity,
  event: SigmaEvent,
  score: number,
): { readonly key: string; readonly match: ThreatMatch } => {
  const { type, value, source } = indicator;
  const matchFields = {
    type,
    value,
    source,
    projectId,
    service,
    host: findFirstValue(event, hostFields),
    user: findFirstValue(event, userFields),
  };
  const key = createMatchKey(matchFields);
  const match: ThreatMatch = {
    ...matchFields,
    tenantId,
    id: computeHashId('threat-match', key, recordId),
    score,
    field,
    recordId,
    observed: observed.slice(0, maxObservedLength),
    timeMs,
    lastMs: timeMs,
    count: 1,
    retroHunt: false,
  };
  return { key, match };
};

/** Adds a further record to a match. */
export const addRecord = (match: ThreatMatch, timeMs: number): ThreatMatch => ({
  ...match,
  count: match.count + 1,
  lastMs: Math.max(match.lastMs, timeMs),
});
