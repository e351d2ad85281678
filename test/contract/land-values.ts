/** Landing of a declared derived topic on every adapter of columns: real tables and scan threads, injected faults. */
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
import { errorCounts, errorCountsSink, errorCountsTable } from './made-up-sink.ts';

const countsOf = (tenantId: string, errors: number): object => ({
  tenantId,
  minute: '2026-03-01T10:00:00.123Z',
  service: errors === 0 ? null : 'cart',
  errors,
  rate: errors / 8,
  examples: ['äöü', ''].slice(0, errors),
  labels: { host: `h${errors}` },
  isNew: errors > 0,
});

/** Consecutive records of a partition; the value of each is its offset. */
const batchOf = (
  tenantId: string,
  first: number,
  count: number,
  of: (tenantId: string, offset: number) => unknown = countsOf,
): Batch => ({
  topic: errorCounts.name,
  partition: 3,
  first,
  last: first + count - 1,
  records: Array.from({ length: count }, (_, index): BusRecord => {
    const value = Buffer.from(JSON.stringify(of(tenantId, first + index)));
    return { offset: first + index, timestampMs: Date.UTC(2026, 2, 2, 3) + index, key: tenantId, headers: {}, value };
  }),
});

export const landValuesContract = ({ name, under }: { name: string; under(): { readonly columns: Columns } }): void => {
  let pool: ScanPool;
  let tokens = 0;
  test.serial.before(`${name}: a declared table is created`, async () => {
    await migrate(under().columns, silentLog, migrations, [errorCountsTable]);
    pool = new ScanPool(new URL('./made-up-sink.ts', import.meta.url), 1);
  });
  test.after.always(() => pool.close());

  /** A handler as a new process has it. */
  const handlerOf = (insert?: (next: () => Promise<void>) => Promise<void>, published: Message[] = []) => {
    const { columns } = under();
    const faulty: Columns = {
      insert: (block, token, ...where) =>
        insert === undefined
          ? columns.insert(block, token, ...where)
          : insert(() => columns.insert(block, `${token}:${++tokens}`, ...where)),
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
    return createBatchHandler(errorCountsSink, {
      columns: faulty,
      producer,
      pool,
      metrics: silentMetrics,
      log: silentLog,
      clock: systemClock,
    });
  };
  const landed = async (tenant: string): Promise<string[]> => {
    const rows = await under().columns.query<{ errors: string }>(
      `SELECT toString(errors) AS errors FROM made_up_counts WHERE tenant_id = '${tenant}' ORDER BY offset`,
    );
    return rows.map(({ errors }) => errors);
  };
  const offsets = (first: number, count: number): string[] =>
    Array.from({ length: count }, (_, index) => String(first + index));

  test(`${name}: columns added by a declaration are added to existing rows`, async (t) => {
    const { columns } = under();
    const table = { ...errorCountsTable, name: 'made_up_counts_before' } as const;
    const wider = { ...table, columns: { ...table.columns, region: 'LowCardinality(String)' } } as const;
    await migrate(columns, silentLog, migrations, [table]);
    const [server] = columns.listServers();
    await server?.columns.execute(`INSERT INTO ${table.name} (tenant_id, errors, received_at) SELECT 'a', 7, now64(3)`);
    await Promise.all([wider, wider].map((each) => migrate(columns, silentLog, migrations, [each])));
    t.deepEqual(await columns.query(`SELECT toString(errors) AS errors, region FROM ${table.name}`), [
      { errors: '7', region: '' },
    ]);
    await t.throwsAsync(migrate(columns, silentLog, migrations, [table]), {
      message: /its column region is not declared/,
    });
  });

  test(`${name}: a value is read back as it was sent, with its origin`, async (t) => {
    const tenant = someTenant();
    await handlerOf()(batchOf(tenant, 0, 3));
    const rows = await under().columns.query(
      `SELECT toString(minute) AS minute, service, errors, rate, examples, labels, is_new, topic, partition, toString(offset) AS at, toString(received_at) AS received
FROM made_up_counts WHERE tenant_id = '${tenant}' ORDER BY offset LIMIT 2`,
    );
    const row = { minute: '2026-03-01 10:00:00.123', topic: 'made-up-counts', partition: 3 };
    t.deepEqual(rows, [
      {
        ...row,
        service: null,
        errors: '0',
        rate: 0,
        examples: [],
        labels: { host: 'h0' },
        is_new: false,
        at: '0',
        received: '2026-03-02 03:00:00.000',
      },
      {
        ...row,
        service: 'cart',
        errors: '1',
        rate: 0.125,
        examples: ['äöü'],
        labels: { host: 'h1' },
        is_new: true,
        at: '1',
        received: '2026-03-02 03:00:00.001',
      },
    ]);
  });

  test(`${name}: values land once, however often they are delivered`, async (t) => {
    const tenant = someTenant();
    const batch = batchOf(tenant, 1_000, 5);
    const handle = handlerOf();
    await handle(batch);
    await handle(batch);
    await handlerOf()(batch);
    t.deepEqual(await landed(tenant), offsets(1_000, 5));
  });

  test(`${name}: values whose insert was not confirmed land once, even if the table has forgotten its token`, async (t) => {
    const tenant = someTenant();
    const batch = batchOf(tenant, 2_000, 5);
    const unconfirmed = handlerOf(async (next) => {
      await next();
      throw new UnavailableError('the answer was lost');
    });
    await t.throwsAsync(unconfirmed(batch), { message: 'the answer was lost' });
    await handlerOf((next) => next())(batch);
    await handlerOf((next) => next())(batch);
    t.deepEqual(await landed(tenant), offsets(2_000, 5));
  });

  test(`${name}: the missing part of partly landed values is added`, async (t) => {
    const tenant = someTenant();
    await handlerOf((next) => next())(batchOf(tenant, 3_002, 2));
    await handlerOf((next) => next())(batchOf(tenant, 3_000, 6));
    t.deepEqual(await landed(tenant), offsets(3_000, 6));
  });

  test(`${name}: rows of another topic at the same offset are not taken for landed`, async (t) => {
    const tenant = someTenant();
    const [server] = under().columns.listServers();
    await server?.columns.execute(
      `INSERT INTO made_up_counts (tenant_id, topic, partition, offset, errors, received_at) SELECT '${tenant}', 'other', 3, 4000, 7, fromUnixTimestamp64Milli(toInt64(${Date.UTC(2026, 2, 2, 3)}), 'UTC')`,
    );
    await handlerOf()(batchOf(tenant, 4_000, 1));
    t.deepEqual((await landed(tenant)).toSorted(), ['4000', '7']);
  });

  test(`${name}: values that do not match the topic or the table go to the dead letter queue with the reason, and the others land`, async (t) => {
    const tenant = someTenant();
    const published: Message[] = [];
    const batch = batchOf(tenant, 5_000, 40, (_tenant, offset) => {
      const value = countsOf(tenant, offset);
      if (offset === 5_003) return { ...value, errors: 'many' };
      return offset === 5_004 ? { ...value, errors: -1 } : value;
    });
    await handlerOf(undefined, published)(batch);
    t.is((await landed(tenant)).length, 38);
    const deadLettersPublished = published.map(({ headers }) => decodeDeadLetter(headers));
    t.deepEqual(
      deadLettersPublished.map(({ offset, reason, message }) => `${offset} ${reason}: ${message}`),
      [
        '5003 bad-value: the value does not match topic made-up-counts: errors: Invalid input: expected number, received string',
        '5004 bad-value: column errors: -1 is not a valid UInt64',
      ],
    );
  });
};
