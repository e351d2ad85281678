/** What declarations of tables and value sinks can contain, and which values each column type accepts. */
import test from 'ava';
import type { ErrorOccurrence } from '../../schemas/error-occurrences.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { defineTable } from '../../schemas/tables/table.ts';
import { scanBatch } from '../../sinks/engine/batch-scan.ts';
import { defineValueSink } from '../../sinks/engine/land-values.ts';
import { errorOccurrences } from '../../sinks/errors.ts';
import { createValueColumn } from '../../sinks/native/values.ts';
import { errorCounts, errorCountsTable } from '../contract/made-up-sink.ts';

const nothing = {
  tenant_id: '',
  minute: 0,
  service: null,
  errors: 0,
  rate: 0,
  examples: [],
  labels: {},
  is_new: false,
};
const declared = { topic: errorCounts, table: errorCountsTable } as const;

test('a row with a missing, extra or wrongly typed column does not compile, nor does a table without a retention', (t) => {
  defineValueSink({ ...declared, row: () => nothing });
  defineValueSink({ ...declared, row: ({ errors }) => [{ ...nothing, errors }, nothing] });
  // @ts-expect-error errors is missing
  defineValueSink({ ...declared, row: () => ({ ...nothing, errors: undefined }) });
  const { errors: _, ...fewer } = nothing;
  // @ts-expect-error errors is missing
  defineValueSink({ ...declared, row: () => fewer });
  // @ts-expect-error errors is a number
  defineValueSink({ ...declared, row: ({ tenantId }) => ({ ...nothing, errors: tenantId }) });
  // @ts-expect-error the column error does not exist
  defineValueSink({ ...declared, row: () => ({ ...nothing, error: 1 }) });
  // @ts-expect-error the topic's values have no such field
  defineValueSink({ ...declared, row: ({ count }) => ({ ...nothing, errors: count }) });
  const table = { ...errorCountsTable, columns: { errors: 'UInt64' } } as const;
  defineValueSink({
    topic: errorCounts,
    table: { ...table, engine: 'ReplacingMergeTree' },
    row: () => ({ errors: 1 }),
  });
  // @ts-expect-error the origin of rows is not stored, and they do not merge
  defineValueSink({ topic: errorCounts, table, row: () => ({}) });
  // @ts-expect-error the retention is missing
  t.throws(() => defineTable({ name: 'a', summary: 'a', columns: {}, orderBy: [] }));
});

test('a table whose expired rows cannot be found is rejected', (t) => {
  const table = {
    name: 'made_up',
    summary: '',
    retention: 'logs',
    columns: { tenant_id: 'String' },
    orderBy: [],
  } as const;
  t.throws(() => defineTable(table), { message: /no column received_at that determines the age of its rows/ });
  t.throws(() => defineTable({ ...table, ageColumn: 'day', columns: { day: 'Date' } }), {
    message: /no column tenant_id/,
  });
  t.notThrows(() => defineTable({ ...table, ageColumn: 'tenant_id' }));
});

/** Column types with values that they accept, as bytes of the column, and values that they reject. */
const types: Readonly<
  Record<string, readonly [taken: readonly unknown[], bytes: string, refused: readonly unknown[]]>
> = {
  String: [['a', 'ä'], '0161 02c3a4', [1, null, undefined, ['a']]],
  Bool: [[true, false], '01 00', [1, 'true', null]],
  UInt8: [[0, 255], '00 ff', [-1, 256, 1.5, Number.NaN, '1']],
  UInt16: [[65_535], 'ffff', [65_536, -1]],
  UInt32: [[4_294_967_295], 'ffffffff', [4_294_967_296]],
  Int32: [[-2_147_483_648, 7], '00000080 07000000', [2_147_483_648]],
  UInt64: [[1, 2n ** 64n - 1n], '0100000000000000 ffffffffffffffff', [-1, 2 ** 53, 2n ** 64n, 0.5, '1']],
  Int64: [[-1, -(2n ** 63n)], 'ffffffffffffffff 0000000000000080', [2n ** 63n]],
  Float64: [[1.5, Number.POSITIVE_INFINITY], '000000000000f83f 000000000000f07f', ['1', null]],
  "DateTime64(3, 'UTC')": [
    [1, '1970-01-01T00:00:00.002999Z', '1970-01-01T01:00Z'],
    '0100000000000000 0200000000000000 80ee360000000000',
    ['yesterday', -1, '2107-01-01T00:00:00Z', '1969-12-31T23:59:59Z', '2026-02-30T00:00:00', 1.5],
  ],
  "DateTime64(9, 'UTC')": [
    [1, '1970-01-01T00:00:00.000000002Z', '1970-01-01T01:00:00+01:00'],
    '40420f0000000000 0200000000000000 0000000000000000',
    ['2200-01-01T00:00:00Z'],
  ],
  "DateTime('UTC')": [[60_000, '1970-01-01T00:00:01Z'], '3c000000 01000000', ['2107-01-01T00:00:00Z']],
  Date: [['1970-01-03T23:00:00Z'], '0200', ['2200-01-01T00:00:00Z']],
  'Nullable(String)': [['a', null], '0001 0161 00', [1]],
  'Nullable(UInt64)': [[null, 1], '0100 0000000000000000 0100000000000000', [-1]],
  'Array(UInt8)': [[[1, 2], []], '0200000000000000 0200000000000000 0102', [1, [256], { a: 1 }]],
  'Array(Array(String))': [[[['a'], []]], '0200000000000000 0100000000000000 0100000000000000 0161', [['a']]],
  'Map(UInt16, UInt64)': [
    [{ 7: 1 }],
    '0100000000000000 0700 0100000000000000',
    [{ a: 1 }, { 70000: 1 }, { '-1': 1 }, { '1.5': 1 }, { '': 1 }],
  ],
  'Map(String, UInt8)': [[{ a: 1, b: 2 }], '0200000000000000 0161 0162 0102', [{ a: 256 }, [], null, 'a']],
};

for (const [type, [accepted, bytes, refused]] of Object.entries(types)) {
  test(`a column of ${type} stores accepted values, and rejects values out of range`, (t) => {
    const { column, push } = createValueColumn(`${type} CODEC(ZSTD(1))`);
    for (const value of accepted) push(value);
    column.mark();
    for (const value of refused) {
      t.throws(() => push(value), { instanceOf: PermanentError }, String(value));
      column.rollback();
    }
    const target = Buffer.alloc(column.computeSize());
    column.write(target, 0);
    t.is(target.toString('hex'), bytes.replaceAll(' ', ''));
    t.is(column.rows, accepted.length);
  });
}

test('an unsupported column type is named', (t) => {
  t.throws(() => createValueColumn('IPv6'), { message: 'no value writer exists for columns of type IPv6' });
});

const occurrence = (at: string, fingerprint = 'f1'): ErrorOccurrence => ({
  tenantId: 'a',
  projectId: 'b',
  service: 'cart',
  environment: '',
  release: '',
  source: 'log',
  fingerprint,
  components: [],
  type: '',
  message: at,
  culprit: '',
  stack: '',
  handled: null,
  userId: '',
  tags: {},
  traceId: '',
  spanId: '',
  at,
  recordId: '',
});
const second = (index: number): string => `2026-03-01T10:00:${String(index).padStart(2, '0')}.000000000Z`;

test('the earliest and the latest error of each group in a batch give its rows, and an invalid message gives none', async (t) => {
  const scanner = await errorOccurrences.scanner();
  const message = (offset: number, ...values: ErrorOccurrence[]) => ({
    offset,
    timestampMs: 0,
    headers: {},
    value: Buffer.from(JSON.stringify(values)),
  });
  const rowsOf = (...messages: ReturnType<typeof message>[]) => {
    const { blocks, rejected } = scanBatch(scanner, messages, 0, 1, (bytes) => Buffer.alloc(bytes));
    const rows = Object.fromEntries(blocks.map(({ table, rows }) => [table, rows]));
    const [, groups] = blocks;
    const times = [...String(groups?.bytes).matchAll(/2026-03-01T10:00:(\d\d)/g)].map(([, at]) => Number(at));
    return { rows, times, rejected: rejected.map(({ index }) => index) };
  };
  const storm = (from: number) =>
    message(from, ...Array.from({ length: 5 }, (_, index) => occurrence(second(from + index))));
  t.deepEqual(rowsOf(storm(10), storm(20), message(30, occurrence('when?'), occurrence(second(59))), storm(5)), {
    rows: { error_occurrences: 15, error_groups: 3 },
    times: [10, 5, 24],
    rejected: [2],
  });
  t.deepEqual(rowsOf(message(40, occurrence(second(40)), occurrence(second(41), 'f2'))), {
    rows: { error_occurrences: 2, error_groups: 2 },
    times: [40, 41],
    rejected: [],
  });
});
