import test from 'ava';
import { MongoClient } from 'mongodb';
import type { Documents } from '../../schemas/ports/documents.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';
import { auditContract } from './audit.ts';

const reason = unavailable('mongodb');
if (reason !== undefined) test.skip(`mongodb: ${reason}`, () => undefined);
else suite();

function suite(): void {
  const name = `oiq-audit-${process.pid}-${Date.now()}`;
  const urls = startServices(['mongodb']).then((services) => services.url('mongodb'));
  test.after.always(async () => {
    const client = await new MongoClient(await urls).connect();
    await client.db(name).dropDatabase();
    await client.close();
  });
  auditContract(
    'mongodb',
    async (): Promise<Documents> => openPatientDocuments((await urls).replace('/?', `/${name}?`)),
  );
}
