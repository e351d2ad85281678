/**
 * A start with a secret key other than that of the installation is refused, also if two processes start concurrently
 * for the first time.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { requireSecretKey } from '../../commands/installation.ts';
import { type Documents, platformTenant } from '../../schemas/ports/documents.ts';
import { installation } from '../../schemas/resources/installation.ts';
import { parseSettings, SettingsError } from '../../schemas/settings.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-installation-key-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

const settingsWith = (letter: string) => parseSettings({ OIQ_SECRET_KEY: letter.repeat(40) });

for (const [otherKey, isRefused] of [
  ['b', true],
  ['a', false],
] as const)
  test(`of two processes that start first at the same time, one with ${isRefused ? 'another' : 'the same'} key ${isRefused ? 'is refused' : 'starts'}`, async (t) => {
    const documents = await openSqliteDocuments({ path: join(directory, `${otherKey}.sqlite`) });
    t.teardown(() => documents.close());
    await documents
      .forTenant(platformTenant)
      .collection(installation)
      .insert({ id: 'installation', organizationId: 'o' });
    let hasOtherStarted = false;
    // The other process records its key between the read and the write of this one.
    const racing: Pick<Documents, 'forTenant'> = {
      forTenant(tenantId) {
        const tenantDocuments = documents.forTenant(tenantId);
        return {
          tenantId,
          collection: (definition) => {
            const stored = tenantDocuments.collection(definition);
            return {
              ...stored,
              async update(id, changes, version) {
                if (!hasOtherStarted) {
                  hasOtherStarted = true;
                  await requireSecretKey({ documents, settings: settingsWith(otherKey) });
                }
                return stored.update(id, changes, version);
              },
            };
          },
        };
      },
    };
    const start = requireSecretKey({ documents: racing as Documents, settings: settingsWith('a') });
    if (isRefused)
      await t.throwsAsync(start, { instanceOf: SettingsError, message: /is not the key of this installation/ });
    else await t.notThrowsAsync(start);
    t.true(hasOtherStarted);
  });
