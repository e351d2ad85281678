import '../../subjects/query-kinds.ts';
import test from 'ava';
import { MongoClient } from 'mongodb';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';
import { statesContract } from './states.ts';

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else suite();

function suite(): void {
  const name = `oiq-states-${process.pid}-${Date.now()}`;
  const urls = startServices(['mongodb']).then((services) => services.url('mongodb'));
  const urlOf = async (): Promise<string> => (await urls).replace('/?', `/${name}?`);
  test.after.always(async () => {
    const client = await new MongoClient(await urls).connect();
    await client.db(name).dropDatabase();
    await client.close();
  });
  statesContract('mongodb', {
    async open() {
      const url = await urlOf();
      return [await openPatientDocuments(url), await openPatientDocuments(url)];
    },
    store: async () => ['mongodb', await urlOf()],
  });
}
