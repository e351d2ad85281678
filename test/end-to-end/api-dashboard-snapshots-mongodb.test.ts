import test from 'ava';
import { MongoClient } from 'mongodb';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';
import { snapshotsSuite } from './api-dashboard-snapshots.ts';

const database = `oiq-dashboard-snapshots-${process.pid}-${Date.now()}`;
const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else {
  const within = async (): Promise<string> =>
    (await startServices(['mongodb'])).url('mongodb').replace('/?', `/${database}?`);
  snapshotsSuite('mongodb', async () => openPatientDocuments(await within()));
  test.after.always(async () => {
    const client = await new MongoClient(await within()).connect();
    await client.db(database).dropDatabase();
    await client.close();
  });
}
