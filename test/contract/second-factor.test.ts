/** A code is accepted once, even if several instances receive it concurrently, in both stores. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { MongoClient } from 'mongodb';
import { generateSecret, generateSync } from 'otplib';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createRecoveryCodes, getSecretContext } from '../../api/identity/multi-factor-codes.ts';
import { useCode } from '../../api/identity/second-factor.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { multiFactors, multiFactorsTenant } from '../../schemas/resources/multi-factor.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';

const clock = { now: () => Date.now() };
const box = createSecretBox('a secret key of a test, and long enough');

/** Submits codes concurrently, each to the next instance. Each instance has its own limits, which are not tested. */
const used = (instances: readonly Documents[], userId: string, codes: readonly string[]) =>
  Promise.all(
    codes.map((code, index) =>
      useCode(
        userId,
        code,
        { address: '' },
        {
          documents: instances[index % instances.length] as Documents,
          counters: createMemoryCounters(),
          secretBox: box,
          clock,
        },
      ),
    ),
  );

const contract = (store: string, open: () => Promise<readonly Documents[]>): void => {
  test(`${store}: one code used concurrently is accepted once, and different codes are all accepted`, async (t) => {
    const instances = await open();
    t.teardown(async () => void (await Promise.all(instances.map((instance) => instance.close()))));
    const userId = randomUUID();
    const secret = generateSecret();
    const codes = createRecoveryCodes(box, userId);
    await instances[0]
      ?.forTenant(multiFactorsTenant)
      .collection(multiFactors)
      .insert({
        id: userId,
        secret: box.seal(getSecretContext(userId), secret),
        confirmedAt: new Date().toISOString(),
        lastTimeStep: 0,
        recoveryCodes: [...codes.hashes],
      });
    const accepted = async (input: readonly string[]): Promise<number> =>
      (await used(instances, userId, input)).filter((by) => by !== undefined).length;
    t.is(await accepted(Array(6).fill(generateSync({ secret }))), 1);
    const [first = '', second = '', third = ''] = codes.displayedCodes;
    t.is(await accepted(Array(6).fill(first)), 1);
    t.is(await accepted([second, third]), 2);
    t.is(await accepted([first, second, third]), 0);
  });
};

const directory = mkdtempSync(join(tmpdir(), 'oiq-second-factor-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));
contract('sqlite', async () => {
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  await documents.ensureCollections([multiFactors]);
  return [documents];
});

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else {
  const name = `oiq-second-factor-${process.pid}-${Date.now()}`;
  const urls = startServices(['mongodb']).then((services) => services.url('mongodb'));
  test.after.always(async () => {
    const client = await new MongoClient(await urls).connect();
    await client.db(name).dropDatabase();
    await client.close();
  });
  contract('mongodb', async () => {
    const url = (await urls).replace('/?', `/${name}?`);
    const instances = [await openPatientDocuments(url), await openPatientDocuments(url)];
    await instances[0]?.ensureCollections([multiFactors]);
    return instances;
  });
}
