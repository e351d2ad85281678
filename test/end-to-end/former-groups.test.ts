/** A data directory from a version that named consumer groups after the component alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { processorGroups } from '../../processors/index.ts';
import { sinkGroups } from '../../sinks/index.ts';
import { eventually } from '../waiting.ts';
import { embeddedDeployment } from './deployment.ts';
import { startOiq } from './oiq-process.ts';
import { logsRequest } from './oracle.ts';
import { readBackEmbedded } from './read-back.ts';
import { fetchStoredRows } from './reliability.ts';

const inOffsets = <Result>(dataDirectory: string, work: (database: DatabaseSync) => Result): Result => {
  const database = new DatabaseSync(join(dataDirectory, 'bus', 'offsets.sqlite'));
  try {
    return work(database);
  } finally {
    database.close();
  }
};

const groupsIn = (dataDirectory: string): string[] =>
  inOffsets(dataDirectory, (database) =>
    database
      .prepare('SELECT DISTINCT consumer_group FROM positions ORDER BY 1')
      .all()
      .map((row) => String(row['consumer_group'])),
  );

test('consumer groups continue from their former offsets, and nothing is stored twice', async (t) => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'oiq-former-groups-'));
  t.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const licenseKey = await embeddedDeployment(dataDirectory);
  const round = async (bodies: readonly string[]): Promise<void> => {
    const oiq = await startOiq({ dataDirectory });
    t.teardown(() => oiq.kill());
    for (const body of bodies) {
      const response = await fetch(`${oiq.otlp}/v1/logs`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-protobuf', 'x-license-key': licenseKey },
        body: logsRequest('groups', [body]),
      });
      t.is(response.status, 200);
    }
    await eventually('its records are stored', async () => (await fetchStoredRows(oiq.http, 'logs')) >= bodies.length);
    t.is(await oiq.stop(), 0);
  };

  await round(['one', 'two', 'three']);
  const groups = groupsIn(dataDirectory);
  t.true(groups.includes('sinks.logs'), groups.join());
  inOffsets(dataDirectory, (database) =>
    database.exec("UPDATE positions SET consumer_group = replace(consumer_group, 'sinks.', '')"),
  );
  await round(['four']);
  t.deepEqual(groupsIn(dataDirectory), groups);
  const position = inOffsets(dataDirectory, (database) =>
    database.prepare("SELECT sum(committed) AS committed FROM positions WHERE consumer_group = 'sinks.logs'").get(),
  );
  t.is(position?.['committed'], 4);
  t.deepEqual(Object.fromEntries(await readBackEmbedded(dataDirectory, 'groups')), {
    one: 1,
    two: 1,
    three: 1,
    four: 1,
  });
});

test('no two components of any role share a consumer group', (t) => {
  const groups = [...sinkGroups, ...processorGroups].map(({ group }) => group);
  t.is(new Set(groups).size, groups.length);
});
