import test from 'ava';
import { type Db, MongoClient } from 'mongodb';
import { type MongoRecord, toRecord } from '../../adapters/documents-mongodb/encoding.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';
import { at, type CountedStore, foreignDocuments, readsAreBounded } from './reads-bounded.ts';

/** The profiler's collection, large enough for all queries of one operation. */
const profile = 'system.profile';
const profileBytes = 64 * 1024 * 1024;

const fill = async (database: Db): Promise<void> => {
  for (const { definition, tenantId, documents } of foreignDocuments()) {
    const records = documents.map(({ id, fields }) =>
      toRecord(tenantId, { id, version: 1, createdAt: at, updatedAt: at }, { fields: { ...fields }, text: '' }),
    );
    await database.collection<MongoRecord>(definition.name).insertMany(records);
  }
};

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else {
  const name = `oiq-reads-${process.pid}-${Date.now()}`;
  const services = startServices(['mongodb']);
  let client: MongoClient;
  test.after.always(async () => {
    await client?.db(name).dropDatabase();
    await client?.close();
  });
  const open = async (): Promise<CountedStore> => {
    const url = (await services).url('mongodb');
    client = await new MongoClient(url).connect();
    const database = client.db(name);
    await database.createCollection(profile, { capped: true, size: profileBytes });
    // Before the API starts, because its feed would process the changes for seconds.
    await fill(database);
    let last = new Date(0);
    return {
      options: { openDocuments: async () => openPatientDocuments(url.replace('/?', `/${name}?`)) },
      async filled() {
        await database.command({ profile: 2 });
      },
      async read() {
        const profiled = await database
          .collection(profile)
          .find({
            ts: { $gt: last },
            ns: { $ne: `${name}.${profile}` },
            // A change feed examines the writes of every client of the server.
            'command.pipeline.0.$changeStream': { $exists: false },
            'originatingCommand.pipeline.0.$changeStream': { $exists: false },
          })
          .toArray();
        for (const { ts } of profiled) if (ts > last) last = ts;
        return profiled.reduce((sum, { docsExamined = 0 }) => sum + docsExamined, 0);
      },
    };
  };
  readsAreBounded('mongodb', open, 3);
}
