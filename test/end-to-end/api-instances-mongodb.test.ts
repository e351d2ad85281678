import test from 'ava';
import { MongoClient } from 'mongodb';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';
import { instancesSuite } from './api-instances.ts';

const database = `oiq-instances-${process.pid}-${Date.now()}`;
const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else {
  const within = async (): Promise<string> =>
    (await startServices(['mongodb'])).url('mongodb').replace('/?', `/${database}?`);
  instancesSuite('mongodb', async () => openPatientDocuments(await within()));
  test.after.always(async () => {
    const client = await new MongoClient(await within()).connect();
    await client.db(database).dropDatabase();
    await client.close();
  });
}
