import { z } from 'zod';
import { requireEntitlement } from '../../../queries/entitlement.ts';
import { queryVersion } from '../../../queries/query.ts';
import { Validity } from '../../../queries/validity.ts';
import type { CollectionDefinition, Stored } from '../../../schemas/ports/documents.ts';
import { anomalyDetectors, maxDetectors, type StoredDetector } from '../../../schemas/resources/anomaly-detector.ts';
import { DetectorFields, entitlementsOf, readDetector } from '../../../subjects/anomalies/detector.ts';
import { detectorProblems } from '../../../subjects/anomalies/detector-problems.ts';
import { DetectorStatus, statusesOf } from '../../../subjects/anomalies/detector-status.ts';
import { invalidFields } from '../../errors.ts';
import { readingOf, validitiesNow } from '../../kernel/reading.ts';
import { defineResource } from '../../resources/resource.ts';
import { equals } from '../../resources/resource-list.ts';
import { type ResourceContext, storedView } from '../../resources/resource-spec.ts';
import { feedbackOf } from './stored-feedback.ts';

/** A detector that this version can parse. */
type Document = DetectorFields & Pick<StoredDetector, 'queryVersion'>;

const View = z.strictObject({
  ...DetectorFields.shape,
  validity: Validity.describe('Whether everything that its query references exists'),
  status: DetectorStatus.nullable().describe('null: currently unavailable'),
  ...storedView,
});

const show = async (
  documents: readonly (Document & Stored)[],
  { caller, ports }: ResourceContext,
): Promise<z.input<typeof View>[]> => {
  const read = documents.map((document) => ({ document, fields: readDetector(document) ?? document }));
  const known = read.map(({ document: { id, createdAt }, fields }) => ({ ...fields, id, createdAt }));
  const own = ports.documents.of(caller.tenantId);
  const [validities, statuses] = await Promise.all([
    validitiesNow(
      read.map(({ fields }) => fields.query),
      caller,
      ports,
    ),
    feedbackOf(own, { detectorId: { $in: documents.map(({ id }) => id) } })
      .then((feedback) => statusesOf(readingOf(caller, ports), known, feedback))
      .catch((error: unknown) => {
        ports.log.warn({ error: String(error) }, 'the state of detectors cannot be read');
        return [];
      }),
  ]);
  return read.map(({ document: { id, version, createdAt, updatedAt }, fields }, index) => ({
    ...DetectorFields.parse(
      Object.fromEntries(Object.entries(fields).filter(([name]) => name in DetectorFields.shape)),
    ),
    validity: validities[index] ?? { isValid: null, problems: [], reason: 'it cannot be read now' },
    status: statuses[index] ?? null,
    id,
    version,
    createdAt,
    updatedAt,
  }));
};

export const detectorResource = defineResource<typeof DetectorFields, Document, typeof View>({
  noun: 'anomaly detector',
  path: '/api/ai/detectors',
  collection: anomalyDetectors as CollectionDefinition<object> as CollectionDefinition<Document>,
  verbs: ['list', 'create', 'read', 'replace', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  entitlement: 'ai',
  fields: DetectorFields,
  example: {
    name: 'Errors of services',
    description: 'Error records by service, per minute',
    query: {
      kind: 'aggregate',
      signal: 'logs',
      search: 'severity:error',
      measures: [{ function: 'count' }],
      groupBy: ['service'],
    },
    step: '1m',
    falseAlarmsPerWeek: 0.5,
    minChange: 10,
    direction: 'up',
    labels: { team: 'shop' },
  },
  view: View,
  live: true,
  show,
  initial: () => ({ queryVersion }),
  prepare(after, { caller }) {
    const problems = detectorProblems(after);
    if (problems.length > 0) throw invalidFields(problems);
    for (const entitlement of entitlementsOf(after)) requireEntitlement(caller, entitlement);
    return { ...after, queryVersion };
  },
  maxCount: maxDetectors,
  list: { searched: ['name', 'description'], filters: { projectId: equals('projectId') } },
});
