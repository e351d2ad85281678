import test from 'ava';
import { MongoClient } from 'mongodb';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';
import { resourcesContract } from './resources.ts';

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else {
  const name = `oiq-resources-${process.pid}-${Date.now()}`;
  const urls = startServices(['mongodb']).then((services) => services.url('mongodb'));
  test.after.always(async () => {
    const client = await new MongoClient(await urls).connect();
    await client.db(name).dropDatabase();
    await client.close();
  });
  resourcesContract('mongodb', {
    open: async () => openPatientDocuments((await urls).replace('/?', `/${name}?`)),
    parts: 3,
  });
}
