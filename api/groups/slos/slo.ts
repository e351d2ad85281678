import { z } from 'zod';
import { requireEntitlement } from '../../../queries/entitlement.ts';
import { queryVersion } from '../../../queries/query.ts';
import type { CollectionDefinition, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { ImportedFrom } from '../../../schemas/resources/imported-from.ts';
import { maxSlos, type StoredSlo, slos } from '../../../schemas/resources/slo.ts';
import { SloFields } from '../../../subjects/slos/document.ts';
import { readExclusions } from '../../../subjects/slos/exclusions.ts';
import { hasNoData } from '../../../subjects/slos/overdue-measurements.ts';
import { parseStoredSlo } from '../../../subjects/slos/parse-slo.ts';
import { findSloProblems } from '../../../subjects/slos/problems.ts';
import { listRequiredEntitlements } from '../../../subjects/slos/signals.ts';
import { readSloStatuses } from '../../../subjects/slos/status.ts';
import type { Caller } from '../../callers/caller.ts';
import { createFieldErrors } from '../../errors.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { type ResourceContext, storedView } from '../../resources/resource-spec.ts';
import { syncSloRules } from './managed-rules.ts';
import { HasNoData, sloMetricFields } from './measurement-fields.ts';

/** An SLO that this version can parse. */
export type SloDocument = SloFields & Pick<StoredSlo, 'queryVersion' | 'importedFrom'>;

/** Returns the stored form of an SLO. Throws if it is invalid, or cannot be measured under the caller's plan. */
export const toSloDocument = (after: SloFields, caller: Caller): SloDocument => {
  const problems = findSloProblems(after);
  if (problems.length > 0) throw createFieldErrors(problems);
  for (const entitlement of listRequiredEntitlements(after)) requireEntitlement(caller, entitlement);
  return { ...after, queryVersion };
};

const Status = z
  .strictObject({
    ...sloMetricFields,
    hasNoData: HasNoData,
    measuredUpTo: z.iso.datetime(),
    settledUpTo: z.iso.datetime().describe('Before this time, late records no longer change any values'),
    error: z.string().nullable().describe('Why the last evaluation failed; null if it succeeded'),
  })
  .nullable()
  .describe('Status in its window; null if it has not been measured yet, or is currently unavailable');

const View = z.strictObject({
  ...SloFields.shape,
  importedFrom: ImportedFrom.nullable().describe(
    'Identity in the document from which it was imported; null if it was not',
  ),
  status: Status,
  ...storedView,
});

const toViews = async (
  documents: readonly (SloDocument & StoredMetadata)[],
  { caller, ports }: ResourceContext,
): Promise<z.input<typeof View>[]> => {
  const parsedSlos = documents.map((document) => ({ document, slo: parseStoredSlo(document) }));
  const readableSlos = parsedSlos.flatMap(({ document: { id }, slo }) => (slo === undefined ? [] : [{ id, slo }]));
  const maintenance = await readExclusions(
    ports.documents.forTenant(caller.tenantId),
    readableSlos.map(({ slo }) => slo),
  );
  const evaluationOptions = { nowMs: ports.clock.now(), maintenance };
  const statuses = await readSloStatuses(createQueryReader(caller, ports), readableSlos, evaluationOptions).catch(
    (error: unknown) => {
      ports.log.warn({ error: String(error) }, 'cannot read the status of SLOs');
      return [];
    },
  );
  const statusesById = new Map(readableSlos.map(({ id }, index) => [id, statuses[index] ?? null]));
  const toStatus = (document: StoredMetadata): z.input<typeof Status> => {
    const status = statusesById.get(document.id) ?? null;
    return status && { ...status, hasNoData: hasNoData(status, document, ports.clock.now()) };
  };
  return parsedSlos.map(
    ({
      document: { id, version, createdAt, updatedAt, queryVersion: _, importedFrom = null, ...fields },
      slo = fields,
    }) => ({
      ...slo,
      importedFrom,
      status: toStatus({ id, version, createdAt, updatedAt }),
      id,
      version,
      createdAt,
      updatedAt,
    }),
  );
};

export const sloResource = defineResource<typeof SloFields, SloDocument, typeof View>({
  noun: 'service level objective',
  path: '/api/slos',
  collection: slos as CollectionDefinition<object> as CollectionDefinition<SloDocument>,
  verbs: ['list', 'create', 'read', 'update', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: SloFields,
  example: {
    name: 'Checkout answers',
    description: 'Checkout requests that succeed',
    targetPct: 99.9,
    windowDays: 30,
    type: 'availability',
    service: 'checkout',
  },
  view: View,
  live: true,
  show: toViews,
  initial: () => ({ queryVersion }),
  alongside: syncSloRules,
  prepare: (after, { caller }) => toSloDocument(after, caller),
  maxCount: maxSlos,
  list: {
    searched: ['name', 'description'],
    filters: { service: createEqualsFilter('service'), type: createEqualsFilter('type') },
  },
});
