/** Every built operation over real MongoDB and Redis. */
import test from 'ava';
import { MongoClient } from 'mongodb';
import { createRedisCounters } from '../../adapters/counters-redis.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices, unavailable } from '../services/services.ts';
import { operationsSucceed } from './operations-success.ts';

const reason = unavailable('mongodb') ?? unavailable('redis');
if (reason !== undefined) test.skip(`mongodb and redis: ${reason}`, () => undefined);
else {
  const name = `oiq-operations-${process.pid}-${Date.now()}`;
  const services = startServices(['mongodb', 'redis']);
  test.after.always(async () => {
    const client = await new MongoClient((await services).url('mongodb')).connect();
    await client.db(name).dropDatabase();
    await client.close();
  });
  operationsSucceed('mongodb and redis', async () => {
    const [mongodb, redis] = [(await services).url('mongodb'), (await services).url('redis')];
    return {
      openDocuments: async () => openPatientDocuments(mongodb.replace('/?', `/${name}?`)),
      openCounters: async () => createRedisCounters({ url: redis, prefix: `${name}:` }),
    };
  });
}
