/** Landing of a derived topic whose messages were republished at other offsets, on every adapter of columns. */
import { randomUUID } from 'node:crypto';
import { decodeDeadLetter } from '../../schemas/dead-letter.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Batch, BusRecord, Message, Producer } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { createBatchHandler } from '../../sinks/engine/run.ts';
import { ScanPool } from '../../sinks/engine/scan-pool.ts';
import { migrate, migrations } from '../../sinks/migrations/index.ts';
import { test } from '../limit-concurrency.ts';
import { someTenant } from './columns-harness.ts';
import { errorBursts, errorBurstsSink, errorBurstsTable } from './made-up-sink.ts';

/** `emitter offset.part`, or other headers. */
type Sent = string | Readonly<Record<string, string>>;
const headersOf = (sent: Sent): Record<string, string> => {
  if (typeof sent !== 'string') return { ...sent };
  const [emitter = '', position = ''] = sent.split(' ');
  return { emitter, position };
};

let partitions = 0;

/** A partition for one test. Every message is one value whose error is its offset. */
const partitionOf = (tenantId: string, partition = ++partitions) => ({
  batch(first: number, sent: readonly Sent[]): Batch {
    const records = sent.map((each, index): BusRecord => {
      const value = Buffer.from(JSON.stringify([{ tenantId, errors: [first + index] }]));
      const headers = headersOf(each);
      return {
        offset: first + index,
        timestampMs: Date.UTC(2026, 2, 2, 3) + first + index,
        key: tenantId,
        headers,
        value,
      };
    });
    return { topic: errorBursts.name, partition, first, last: first + sent.length - 1, records };
  },
});

export const landEmittedContract = ({
  name,
  under,
}: {
  name: string;
  under(): { readonly columns: Columns };
}): void => {
  let pool: ScanPool;
  test.serial.before(`${name}: a table of a derived topic is created`, async () => {
    await migrate(under().columns, silentLog, migrations, [errorBurstsTable]);
    pool = new ScanPool(new URL('./made-up-sink.ts', import.meta.url), 1);
  });
  test.after.always(() => pool.close());

  interface Process {
    readonly insert?: (next: () => Promise<void>) => Promise<void>;
    readonly published?: Message[];
    readonly counted?: number[];
  }
  /** A handler as a new process has it. Tables do not know its tokens. */
  const processOf = ({ insert = (next) => next(), published = [], counted = [] }: Process = {}) => {
    const { columns } = under();
    const faulty: Columns = {
      insert: (block, token, ...where) => insert(() => columns.insert(block, `${token}:${randomUUID()}`, ...where)),
      recordWatermark: (...landings) => columns.recordWatermark(...landings),
      forTenant: (tenantId) => columns.forTenant(tenantId),
      query: (sql, parameters, limits) => columns.query(sql, parameters, limits),
      execute: (sql) => columns.execute(sql),
      listServers: () => columns.listServers(),
      handleTablesChanged: () => columns.handleTablesChanged(),
      check: () => columns.check(),
      close: async () => {},
    };
    const producer: Producer = {
      publish: async (messages) => void published.push(...messages),
      transaction: async (_name, work) => work(async (messages) => void published.push(...messages)),
      close: async () => {},
    };
    const metrics = {
      ...silentMetrics,
      add: (metric: string, value: number) => void (metric === 'oiq_duplicates_total' && counted.push(value)),
    };
    return createBatchHandler(errorBurstsSink, {
      columns: faulty,
      producer,
      pool,
      metrics,
      log: silentLog,
      clock: systemClock,
    });
  };
  const landed = async (tenant: string): Promise<number[]> => {
    const rows = await under().columns.query<{ error: number }>(
      `SELECT error FROM made_up_bursts WHERE tenant_id = '${tenant}' ORDER BY offset, ordinal`,
    );
    return rows.map(({ error }) => Number(error));
  };

  test(`${name}: each value of a message becomes rows with their position in the message and the message's position at its emitter`, async (t) => {
    const tenant = someTenant();
    const { partition, ...batch } = partitionOf(tenant).batch(10, ['a 7.3']);
    const value = Buffer.from(JSON.stringify([[5, 6], [], [7]].map((errors) => ({ tenantId: tenant, errors }))));
    await processOf()({ ...batch, partition, records: batch.records.map((record) => ({ ...record, value })) });
    t.deepEqual(
      await under().columns.query(
        `SELECT error, ordinal, toString(offset) AS at, emitter, toString(emitted_offset) AS emitted, toString(emitted_part) AS part
FROM made_up_bursts WHERE tenant_id = '${tenant}' ORDER BY ordinal`,
      ),
      [5, 6, 7].map((error, ordinal) => ({ error, ordinal, at: '10', emitter: 'a', emitted: '7', part: '3' })),
    );
  });

  const cases: readonly (readonly [what: string, batches: readonly (readonly Sent[])[], landing: readonly number[]])[] =
    [
      [
        'a message that comes again later',
        [
          ['a 5.0', 'a 5.1'],
          ['a 5.0', 'a 5.1', 'a 6.0'],
        ],
        [0, 1, 4],
      ],
      ['a message that comes twice in a batch', [['a 5.0', 'a 5.0', 'a 5.1', 'a 5.0']], [0, 2]],
      ['positions by offset, then by part, as numbers', [['a 9.9', 'a 9.10', 'a 10.0', 'a 9.11', 'a 10.0']], [0, 1, 2]],
      [
        'two emitters',
        [
          ['a 5.0', 'b 3.0'],
          ['b 4.0', 'a 4.0', 'b 3.0', 'a 5.1'],
        ],
        [0, 1, 2, 5],
      ],
      [
        'messages that no processor emitted',
        [
          [{}, 'a 5.0', {}],
          [{}, 'a 5.0'],
        ],
        [0, 1, 2, 3],
      ],
      ['a batch of which nothing is left', [['a 5.0'], ['a 5.0', 'a 4.7'], ['a 5.1']], [0, 3]],
      [
        'the replay of a dead letter, which had not landed',
        [['a 5.0'], [{ emitter: 'a', position: '4.0', 'only-group': 'sinks.made-up-bursts' }]],
        [0, 1],
      ],
    ];
  for (const [what, batches, landing] of cases) {
    for (const restarts of [false, true]) {
      test(`${name}: with ${what}, each position lands once${restarts ? ', when each batch goes to a new process' : ''}`, async (t) => {
        const tenant = someTenant();
        const partition = partitionOf(tenant);
        const counted: number[] = [];
        const one = processOf({ counted });
        let first = 0;
        for (const sent of batches) {
          await (restarts ? processOf({ counted }) : one)(partition.batch(first, sent));
          first += sent.length;
        }
        t.deepEqual(await landed(tenant), [...landing]);
        t.is(
          counted.reduce((sum, count) => sum + count, 0),
          first - landing.length,
        );
      });
    }
  }

  test(`${name}: a batch redelivered to a new process has no duplicates: its own rows are not taken for earlier rows`, async (t) => {
    const tenant = someTenant();
    const batch = partitionOf(tenant).batch(0, ['a 5.0', 'a 5.1']);
    const counted: number[] = [];
    for (let times = 0; times < 2; times++) await processOf({ counted })(batch);
    t.deepEqual(await landed(tenant), [0, 1]);
    t.deepEqual(counted, []);
  });

  test(`${name}: positions are scoped to one partition`, async (t) => {
    const tenant = someTenant();
    await processOf()(partitionOf(tenant).batch(0, ['a 9.0']));
    await processOf()(partitionOf(tenant).batch(1, ['a 5.0']));
    t.deepEqual(await landed(tenant), [0, 1]);
  });

  test(`${name}: rows that another process landed between two batches are recognized`, async (t) => {
    const tenant = someTenant();
    const partition = partitionOf(tenant);
    const one = processOf();
    await one(partition.batch(0, ['a 1.0']));
    await processOf()(partition.batch(1, ['a 2.0']));
    await one(partition.batch(2, ['a 2.0', 'a 3.0']));
    t.deepEqual(await landed(tenant), [0, 1, 3]);
  });

  test(`${name}: a partly landed batch is completed, and a message that it contains twice lands once`, async (t) => {
    const tenant = someTenant();
    const partition = partitionOf(tenant);
    await processOf()(partition.batch(0, ['a 1.0']));
    const range = ['a 1.0', 'a 2.0', 'a 2.1', 'a 2.0', 'a 3.0'];
    // An insert over midnight may land only the part of the later day.
    await processOf()(partition.batch(3, range.slice(2, 3)));
    await processOf()(partition.batch(1, range));
    await processOf()(partition.batch(1, range));
    t.deepEqual(await landed(tenant), [0, 2, 3, 5]);
  });

  test(`${name}: a batch whose insert failed lands when it is redelivered`, async (t) => {
    const tenant = someTenant();
    const partition = partitionOf(tenant);
    let fails = true;
    const handle = processOf({
      async insert(next) {
        if (fails) throw new UnavailableError('not now');
        await next();
      },
    });
    await t.throwsAsync(handle(partition.batch(0, ['a 1.0', 'a 2.0'])), { message: 'not now' });
    fails = false;
    await handle(partition.batch(0, ['a 1.0', 'a 2.0']));
    await handle(partition.batch(2, ['a 2.0', 'a 3.0']));
    t.deepEqual(await landed(tenant), [0, 1, 3]);
  });

  test(`${name}: a batch whose insert was not confirmed lands once, including the effect of the messages it skipped`, async (t) => {
    const tenant = someTenant();
    const partition = partitionOf(tenant);
    const batch = partition.batch(1, ['a 1.0', 'a 2.0', 'a 3.0']);
    await processOf()(partition.batch(0, ['a 1.0']));
    const unconfirmed = processOf({
      async insert(next) {
        await next();
        throw new UnavailableError('the answer was lost');
      },
    });
    await t.throwsAsync(unconfirmed(batch), { message: 'the answer was lost' });
    const other = processOf();
    await other(batch);
    await other(partition.batch(4, ['a 3.0', 'a 4.0']));
    t.deepEqual(await landed(tenant), [0, 2, 3, 5]);
  });

  test(`${name}: a message whose position cannot be parsed goes to the dead letter queue, and the others land`, async (t) => {
    const tenant = someTenant();
    const published: Message[] = [];
    const faulty = [{ emitter: 'a', position: '5' }, { emitter: 'a' }, { position: '1.0' }];
    const validValues = Array.from({ length: 40 }, (_, part) => `a 1.${part}`);
    await processOf({ published })(partitionOf(tenant).batch(0, [...faulty, ...validValues]));
    t.is((await landed(tenant)).length, 40);
    t.deepEqual(
      published.map(({ headers }) => decodeDeadLetter(headers).reason),
      faulty.map(() => 'bad-headers'),
    );
  });
};
