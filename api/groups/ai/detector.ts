import { z } from 'zod';
import { requireEntitlement } from '../../../queries/entitlement.ts';
import { queryVersion } from '../../../queries/query.ts';
import { Validity } from '../../../queries/validity.ts';
import type { CollectionDefinition, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { anomalyDetectors, maxDetectors, type StoredDetector } from '../../../schemas/resources/anomaly-detector.ts';
import { DetectorFields, listRequiredEntitlements, parseStoredDetector } from '../../../subjects/anomalies/detector.ts';
import { findDetectorProblems } from '../../../subjects/anomalies/detector-problems.ts';
import { DetectorStatus, readStatuses } from '../../../subjects/anomalies/detector-status.ts';
import { createFieldErrors } from '../../errors.ts';
import { createQueryReader, readValidities } from '../../kernel/query-reader.ts';
import { createNoDataFlag, deleteReportWith, HasNoData, readIdsWithoutData } from '../../resources/empty-results.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { type ResourceContext, storedView } from '../../resources/resource-spec.ts';
import { readFeedback } from './stored-feedback.ts';

/** A detector that this version can parse. */
type DetectorDocument = DetectorFields & Pick<StoredDetector, 'queryVersion'>;

const View = z.strictObject({
  ...DetectorFields.shape,
  validity: Validity.describe('Whether everything that its query references exists'),
  status: DetectorStatus.nullable().describe('null: currently unavailable'),
  hasNoData: HasNoData,
  ...storedView,
});

const toViews = async (
  documents: readonly (DetectorDocument & StoredMetadata)[],
  context: ResourceContext,
): Promise<z.input<typeof View>[]> => {
  const { caller, ports } = context;
  const parsedDetectors = documents.map((document) => ({
    document,
    fields: parseStoredDetector(document) ?? document,
  }));
  const detectors = parsedDetectors.map(({ document: { id, createdAt }, fields }) => ({ ...fields, id, createdAt }));
  const tenantDocuments = ports.documents.forTenant(caller.tenantId);
  const [validities, statuses, idsWithoutData] = await Promise.all([
    readValidities(
      parsedDetectors.map(({ fields }) => fields.query),
      caller,
      ports,
    ),
    readFeedback(tenantDocuments, { detectorId: { $in: documents.map(({ id }) => id) } })
      .then((feedback) => readStatuses(createQueryReader(caller, ports), detectors, feedback))
      .catch((error: unknown) => {
        ports.log.warn({ error: String(error) }, 'the state of detectors cannot be read');
        return [];
      }),
    readIdsWithoutData('anomaly-detector', documents, context),
  ]);
  return parsedDetectors.map(({ document: { id, version, createdAt, updatedAt }, fields }, index) => ({
    ...DetectorFields.parse(
      Object.fromEntries(Object.entries(fields).filter(([name]) => name in DetectorFields.shape)),
    ),
    validity: validities[index] ?? { isValid: null, problems: [], reason: 'it cannot be read now' },
    status: statuses[index] ?? null,
    hasNoData: idsWithoutData.has(id),
    id,
    version,
    createdAt,
    updatedAt,
  }));
};

export const detectorResource = defineResource<typeof DetectorFields, DetectorDocument, typeof View>({
  noun: 'anomaly detector',
  path: '/api/ai/detectors',
  collection: anomalyDetectors as CollectionDefinition<object> as CollectionDefinition<DetectorDocument>,
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
  show: toViews,
  initial: () => ({ queryVersion }),
  prepare(fields, { caller }) {
    const problems = findDetectorProblems(fields);
    if (problems.length > 0) throw createFieldErrors(problems);
    for (const entitlement of listRequiredEntitlements(fields)) requireEntitlement(caller, entitlement);
    return { ...fields, queryVersion };
  },
  maxCount: maxDetectors,
  alongside: deleteReportWith('anomaly-detector'),
  list: {
    searched: ['name', 'description'],
    filters: { projectId: createEqualsFilter('projectId') },
    flags: createNoDataFlag('anomaly-detector'),
  },
});
