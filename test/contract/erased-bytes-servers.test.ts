/**
 * Erasure of an organization in the stores of a cluster. Kafka keeps telemetry messages until their retention ends,
 * and MongoDB has no telemetry.
 */
import { join } from 'node:path';
import test from 'ava';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { openMongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import {
  createClock,
  createDirectory,
  eraseDeletedOrganization,
  expectErased,
  findCanary,
  seedStores,
} from '../cases/erased-bytes.ts';
import { freePorts } from '../services/ports.ts';
import { startService, unavailable } from '../services/services.ts';

const reason = unavailable('clickhouse') ?? unavailable('mongodb');
const { directory, remove } = createDirectory();
test.after.always(remove);

if (reason !== undefined) test.skip(`erasure over servers: ${reason}`, () => undefined);
else
  test('no file of a ClickHouse server or of MongoDB has a byte of the telemetry of an erased organization', async (t) => {
    const [port = 0, mongodbPort = 0] = await freePorts(2);
    const clickhouse = await startService('clickhouse', { port, directory: join(directory, 'clickhouse') });
    t.teardown(() => clickhouse.kill());
    const mongodb = await startService('mongodb', { port: mongodbPort, directory: join(directory, 'mongodb') });
    t.teardown(() => mongodb.kill());
    const clock = createClock();
    const columns = await openClickhouseColumns({ urls: [clickhouse.url], log: silentLog });
    t.teardown(() => columns.close());
    const documents = await openMongoDocuments({ url: mongodb.url });
    t.teardown(() => documents.close());
    await seedStores({ columns, documents }, clock);
    t.true(findCanary(directory).length > 0);
    clock.moveByDays(31);
    await eraseDeletedOrganization({ columns, documents }, clock);
    await expectErased(t, columns, directory);
    await clickhouse.stop();
    await mongodb.stop();
    t.deepEqual(findCanary(directory), []);
  });
