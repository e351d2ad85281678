/**
 * Changes to stored documents that a new version needs. Each is applied once per installation. A migration is a pure
 * function of a document's fields. If another process changes a document in the meantime, the document is read and
 * migrated again. Several processes can therefore migrate at the same time.
 */

import { changeNested, type FieldChange, renameFields, type StoredFields } from '../runtime/rename-fields.ts';
import { getFields } from '../runtime/stored-fields.ts';
import {
  type Collection,
  type CollectionDefinition,
  ConflictError,
  type Documents,
  defineCollection,
  platformTenant,
  type StoredMetadata,
} from '../schemas/ports/documents.ts';
import { anomalyDetectors } from '../schemas/resources/anomaly-detector.ts';
import { detectionRules } from '../schemas/resources/detection-rule.ts';
import { errorGroupStates } from '../schemas/resources/error-group.ts';
import { escalations } from '../schemas/resources/escalation.ts';
import { fileBaselines } from '../schemas/resources/file-baseline.ts';
import { resourceHistory } from '../schemas/resources/resource-history.ts';
import { retroHunts } from '../schemas/resources/retro-hunt.ts';
import { sloPolicies } from '../schemas/resources/slo-policy.ts';
import { syntheticChecks } from '../schemas/resources/synthetic-check.ts';
import { syntheticProbeContacts } from '../schemas/resources/synthetic-location.ts';
import { syntheticRunRequests } from '../schemas/resources/synthetic-run-request.ts';

interface DocumentMigration {
  /** Must never change: it is stored when the migration has been applied. */
  readonly id: string;
  readonly collection: CollectionDefinition<object>;
  /** Returns the fields to store, or the same object when the document needs no change. */
  readonly change: FieldChange;
}

/** Ids of applied migrations, as documents of the platform. */
export const documentMigrations = defineCollection<{ readonly appliedAt: string }>({ name: 'document-migrations' });

const renameDetector = renameFields({ leastChange: 'minChange' });
const renameCheck = changeNested({ heartbeat: renameFields({ longestRun: 'maxRunDuration' }) });
const renamePolicy = changeNested({ steps: renameFields({ budgetLeftBelow: 'budgetRemainingBelow' }) });

const historyChanges: Readonly<Record<string, FieldChange>> = {
  'anomaly-detector': renameDetector,
  'synthetic-check': renameCheck,
};

export const migrations: readonly DocumentMigration[] = [
  { id: '001-anomaly-detectors', collection: anomalyDetectors, change: renameDetector },
  { id: '001-error-groups', collection: errorGroupStates, change: renameFields({ apartFrom: 'separateFrom' }) },
  { id: '001-escalations', collection: escalations, change: renameFields({ told: 'notified' }) },
  {
    id: '001-file-baselines',
    collection: fileBaselines,
    change: renameFields({ takenFrom: 'capturedFrom', takenUntil: 'capturedUntil', takenBy: 'capturedBy' }),
  },
  {
    id: '001-probe-contacts',
    collection: syntheticProbeContacts,
    change: renameFields({ heardAt: 'lastSeenAt', cannot: 'unsupportedTypes' }),
  },
  { id: '001-retro-hunts', collection: retroHunts, change: renameFields({ isWhole: 'isComplete' }) },
  { id: '001-run-requests', collection: syntheticRunRequests, change: renameFields({ askedMs: 'requestedAtMs' }) },
  { id: '001-slo-policies', collection: sloPolicies, change: renamePolicy },
  { id: '001-synthetic-checks', collection: syntheticChecks, change: renameCheck },
  {
    id: '001-resource-history',
    collection: resourceHistory,
    change: (fields) => {
      const { type } = fields['resource'] as { readonly type: string };
      const change = historyChanges[type];
      return change === undefined ? fields : changeNested({ fields: change })(fields);
    },
  },
  {
    id: '002-detection-rules',
    collection: detectionRules,
    // Former versions did not store whether an import wrote a rule, and imports changed every rule.
    change: (fields) => (Object.hasOwn(fields, 'isImported') ? fields : { ...fields, isImported: true }),
  },
];

const migrateDocument = async (
  documents: Documents,
  { collection, change }: DocumentMigration,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
): Promise<boolean> => {
  const tenantCollection = documents.forTenant(tenantId).collection<object>(collection);
  for (;;) {
    const stored = (await tenantCollection.find(id)) as (StoredFields & StoredMetadata) | undefined;
    if (stored === undefined) return false;
    const before = getFields(stored);
    const after = change(before);
    if (after === before) return false;
    try {
      await tenantCollection.replace(id, after, stored.version);
      return true;
    } catch (error) {
      // Another process changed the document meanwhile.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
};

/** Changes all documents of a collection. Returns how many were changed. */
const rejectNewerMigrations = async (
  appliedMigrations: Pick<Collection<{ readonly appliedAt: string }>, 'list'>,
): Promise<void> => {
  const { items } = await appliedMigrations.list({ limit: 1000 });
  const newerIds = items.map(({ id }) => id).filter((id) => !migrations.some((known) => known.id === id));
  if (newerIds.length > 0)
    throw new Error(
      `a newer version of OIQ migrated the documents (${newerIds.join(', ')}): run the newer version, or restore a backup from before the upgrade`,
    );
};

const migrateCollection = async (documents: Documents, migration: DocumentMigration): Promise<number> => {
  let count = 0;
  const stored = documents.findInAllTenants<StoredFields>(migration.collection as CollectionDefinition<StoredFields>);
  for await (const { tenantId, ...document } of stored) {
    const before = getFields(document as unknown as StoredFields & StoredMetadata);
    if (migration.change(before) === before) continue;
    if (await migrateDocument(documents, migration, { tenantId, id: document.id })) count++;
  }
  return count;
};

/** Applies each migration not yet applied to this installation. Returns the number of changed documents by migration; migrations that changed none are omitted. */
export const migrateDocuments = async (
  documents: Documents,
  clock: { now(): number } = { now: () => Date.now() },
): Promise<Readonly<Record<string, number>>> => {
  const appliedMigrations = documents.forTenant(platformTenant).collection(documentMigrations);
  await rejectNewerMigrations(appliedMigrations);
  const changedCounts: Record<string, number> = {};
  for (const migration of migrations) {
    if ((await appliedMigrations.find(migration.id)) !== undefined) continue;
    const count = await migrateCollection(documents, migration);
    if (count > 0) changedCounts[migration.id] = count;
    try {
      await appliedMigrations.insert({ id: migration.id, appliedAt: new Date(clock.now()).toISOString() });
    } catch (error) {
      // Another process applied the migration at the same time.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  return changedCounts;
};
