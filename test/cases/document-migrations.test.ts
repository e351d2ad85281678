/** Stored documents of former versions get the field names of this version, once per installation. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { documentMigrations, migrateDocuments, migrations } from '../../api/document-migrations.ts';
import { renameFields } from '../../runtime/rename-fields.ts';
import { type CollectionDefinition, type Documents, platformTenant } from '../../schemas/ports/documents.ts';
import { anomalyDetectors } from '../../schemas/resources/anomaly-detector.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import { errorGroupStates } from '../../schemas/resources/error-group.ts';
import { escalations } from '../../schemas/resources/escalation.ts';
import { fileBaselines } from '../../schemas/resources/file-baseline.ts';
import { resourceHistory } from '../../schemas/resources/resource-history.ts';
import { retroHunts } from '../../schemas/resources/retro-hunt.ts';
import { sloPolicies } from '../../schemas/resources/slo-policy.ts';
import { syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { syntheticProbeContacts } from '../../schemas/resources/synthetic-location.ts';
import { syntheticRunRequests } from '../../schemas/resources/synthetic-run-request.ts';
import { scratchDirectory } from '../services/scratch.ts';

interface Case {
  readonly collection: CollectionDefinition<object>;
  readonly former: object;
  readonly now: object;
}

const cases: readonly Case[] = [
  {
    collection: anomalyDetectors,
    former: { name: 'Slow', leastChange: 7 },
    now: { name: 'Slow', minChange: 7 },
  },
  {
    collection: errorGroupStates,
    former: { status: 'open', apartFrom: ['f1'] },
    now: { status: 'open', separateFrom: ['f1'] },
  },
  {
    collection: escalations,
    former: { key: 'k', told: { since: 'x', what: 'opened' } },
    now: { key: 'k', notified: { since: 'x', what: 'opened' } },
  },
  {
    collection: fileBaselines,
    former: { name: 'b', takenFrom: null, takenUntil: 'u', takenBy: 'me' },
    now: { name: 'b', capturedFrom: null, capturedUntil: 'u', capturedBy: 'me' },
  },
  {
    collection: syntheticProbeContacts,
    former: { location: 'l', heardAt: 'h', cannot: [] },
    now: { location: 'l', lastSeenAt: 'h', unsupportedTypes: [] },
  },
  { collection: retroHunts, former: { isWhole: false }, now: { isComplete: false } },
  { collection: syntheticRunRequests, former: { askedMs: 5 }, now: { requestedAtMs: 5 } },
  {
    collection: sloPolicies,
    former: {
      steps: [
        { name: 'a', budgetLeftBelow: 10 },
        { name: 'b', burnRate: 2 },
      ],
    },
    now: {
      steps: [
        { name: 'a', budgetRemainingBelow: 10 },
        { name: 'b', burnRate: 2 },
      ],
    },
  },
  {
    collection: syntheticChecks,
    former: { name: 'c', heartbeat: { grace: '1m', longestRun: '5m' } },
    now: { name: 'c', heartbeat: { grace: '1m', maxRunDuration: '5m' } },
  },
  {
    collection: resourceHistory,
    former: { resource: { type: 'synthetic-check', id: 'c', version: 1 }, fields: { heartbeat: { longestRun: '5m' } } },
    now: {
      resource: { type: 'synthetic-check', id: 'c', version: 1 },
      fields: { heartbeat: { maxRunDuration: '5m' } },
    },
  },
  {
    collection: detectionRules,
    former: { title: 'Found', enabled: true },
    now: { title: 'Found', enabled: true, isImported: true },
  },
];

const withStored = async (work: (documents: Documents) => Promise<void>): Promise<void> => {
  const directory = await mkdtemp(join(scratchDirectory(), 'oiq-migrations-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  try {
    await documents.ensureCollections(migrations.map(({ collection }) => collection));
    await work(documents);
  } finally {
    await documents.close();
    await rm(directory, { recursive: true });
  }
};

test('every migration has a test case in this file', (t) => {
  t.deepEqual(
    new Set(cases.map(({ collection }) => collection.name)),
    new Set(migrations.map((one) => one.collection.name)),
  );
});

for (const { collection, former, now } of cases)
  test(`${collection.name}: documents of every organization get the new names, and a second run changes nothing`, async (t) => {
    await withStored(async (documents) => {
      for (const tenantId of ['a', 'b'])
        await documents
          .forTenant(tenantId)
          .collection(collection)
          .insert({ id: 'x', ...former });
      const other = 'name' in now ? { ...now, name: 'other' } : now;
      await documents
        .forTenant('a')
        .collection(collection)
        .insert({ id: 'y', ...other });
      t.deepEqual(Object.values(await migrateDocuments(documents)), [2]);
      for (const [tenantId, id] of [
        ['a', 'x'],
        ['b', 'x'],
        ['a', 'y'],
      ] as const) {
        const {
          id: _,
          version,
          createdAt,
          updatedAt,
          ...fields
        } = (await documents.forTenant(tenantId).collection(collection).find(id)) as object & {
          id: string;
          version: number;
          createdAt: string;
          updatedAt: string;
        };
        t.deepEqual(fields, id === 'x' ? now : other);
        t.is(version, id === 'x' ? 2 : 1);
      }
      t.deepEqual(await migrateDocuments(documents), {});
    });
  });

test('several processes can migrate concurrently', async (t) => {
  await withStored(async (documents) => {
    const stored = documents
      .forTenant('a')
      .collection(anomalyDetectors as CollectionDefinition<object> as CollectionDefinition<Record<string, unknown>>);
    for (let index = 0; index < 50; index++)
      await stored.insert({ id: `d${index}`, name: `${index}`, leastChange: index });
    await Promise.all([1, 2, 3].map(() => migrateDocuments(documents)));
    const { items } = await stored.list({ limit: 100 });
    t.deepEqual(
      items.map((item) => (item as unknown as { minChange: number }).minChange).toSorted((one, other) => one - other),
      Array.from({ length: 50 }, (_, index) => index),
    );
  });
});

test('an existing new name is not overwritten', (t) => {
  t.deepEqual(renameFields({ former: 'next' })({ former: 1, next: 2 }), { next: 2 });
});

test('documents that a newer version migrated are refused, and stay as they are', (t) =>
  withStored(async (documents) => {
    const applied = documents.forTenant(platformTenant).collection(documentMigrations);
    await applied.insert({ id: '999-newer', appliedAt: '2026-01-01T00:00:00.000Z' });
    await t.throwsAsync(migrateDocuments(documents), {
      message:
        /a newer version of OIQ migrated the documents \(999-newer\): run the newer version, or restore a backup/,
    });
    t.is(await applied.count(), 1);
  }));
