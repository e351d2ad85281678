import test from 'ava';
import { MongoClient } from 'mongodb';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';
import { licenseKeysContract } from './license-keys.ts';

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else {
  const name = `oiq-keys-${process.pid}-${Date.now()}`;
  const urls = startServices(['mongodb']).then((services) => services.url('mongodb'));
  test.after.always(async () => {
    const client = await new MongoClient(await urls).connect();
    await client.db(name).dropDatabase();
    await client.close();
  });
  licenseKeysContract('mongodb', async () => openPatientDocuments((await urls).replace('/?', `/${name}?`)));
}
