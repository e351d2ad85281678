/** Windows of SLOs equal the sums of their slices, regardless of daily rollups and of later replacements of slices. */
import test from 'ava';
import fc from 'fast-check';
import type { SloObjective } from '../../../schemas/slo-slices.ts';
import { updateDaySums } from '../../../sinks/slo-days.ts';
import {
  computeBudget,
  computeBurnRate,
  computeSli,
  type Sums,
  sumSlices,
  toObjective,
} from '../../../subjects/slos/slices/error-budget.ts';
import { compare, type Fraction } from '../../../subjects/slos/slices/fraction.ts';
import { readSlices } from '../../../subjects/slos/slices/slices.ts';
import { readWindows } from '../../../subjects/slos/slices/window-sums.ts';
import { countSlices } from '../../../subjects/slos/slices/windows.ts';
import { propertyRuns } from '../../budget.ts';
import { openTables, type Tables } from '../sink-tables.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const beginMs = Date.UTC(2026, 2, 1);
const days = 6;
const inMinutes = (minute: number): number => beginMs + minute * minuteMs;

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables?.close());

type Slice = readonly [beginMs: number, good: number, total: number];
let offset = 0;
const land = async (sloId: string, objective: SloObjective, slices: readonly Slice[], series = 's'): Promise<void> => {
  offset += 1;
  const measuredAtMs = beginMs + days * dayMs + offset;
  const measurement = {
    tenantId: 'a',
    sloId,
    series,
    lookMs: measuredAtMs,
    error: '',
    objective,
    slices,
    fromMs: beginMs,
    upToMs: measuredAtMs,
    settledUpToMs: beginMs,
  };
  const { rejected } = await tables.land([{ offset, value: Buffer.from(JSON.stringify([measurement])), headers: {} }], {
    sink: 'slo-slices',
  });
  if (rejected.length > 0) throw new Error(rejected[0]?.message);
};

const plain = { targetPct: 99, sliceMs: minuteMs, windowDays: 5 } as const;
const objectives: readonly SloObjective[] = [
  { ...plain, budgeting: 'occurrences' },
  { ...plain, budgeting: 'timeslices', sliceTarget: 0.5 },
  { ...plain, budgeting: 'ratio-timeslices' },
];
/** A time at or after all writes. */
const afterAllWrites = (): number => Date.now() + dayMs;
const reader = () => ({ columns: tables.columns.forTenant('a') });

const checkWindows = async (
  t: import('ava').ExecutionContext,
  sloId: string,
  objective: SloObjective,
  windows: readonly { fromMs: number; toMs: number }[],
) => {
  const of = { sloId, series: 's' };
  const summed = (await readWindows(reader(), [{ ...of, objective, windows }]))(0);
  for (const window of windows) {
    const slices = (await readSlices(reader(), of, window)).map(([fromMs, good, total]) => ({
      fromMs,
      good: BigInt(good),
      total: BigInt(total),
    }));
    const [is, expected] = [summed(window), sumSlices(slices, toObjective(objective))];
    t.is(is.slicesWithData, expected.slicesWithData);
    for (const part of ['good', 'bad', 'total'] as const)
      t.is(compare(is[part], expected[part]), 0, `${part} of ${objective.budgeting} in ${JSON.stringify(window)}`);
  }
};

/** The numerator and denominator of each budgeting method, computed independently from the last value of each slice. */
const counted = (slices: Iterable<Slice>, { budgeting }: SloObjective) => {
  const known = [...slices]
    .map(([, good, total]) => [BigInt(good), BigInt(total)] as const)
    .filter(([, total]) => total > 0n);
  const added = (of: (good: bigint, total: bigint) => bigint): bigint =>
    known.reduce((sum, [good, total]) => sum + of(good, total), 0n);
  const all = added(() => 1n);
  if (budgeting === 'occurrences')
    return { good: added((good) => good), total: added((_, total) => total), under: 1n, known: known.length };
  if (budgeting === 'timeslices')
    return {
      good: added((good, total) => (good * 100n >= total * 50n ? 1n : 0n)),
      total: all,
      under: 1n,
      known: known.length,
    };
  const under = [...new Set(known.map(([, total]) => total))].reduce((product, total) => product * total, 1n);
  return { good: added((good, total) => (good * under) / total), total: all * under, under, known: known.length };
};

/** Asserts that sums, indicator, burn rate and budget of a window equal the exact numbers. */
const isExactly = (
  t: import('ava').ExecutionContext,
  window: Sums,
  objective: SloObjective,
  expected: ReturnType<typeof counted>,
): void => {
  const { good, total, under, known } = expected;
  const bad = total - good;
  const is = (found: Fraction | undefined, over: bigint, of: bigint, what: string): void => {
    if (of === 0n) t.is(found, undefined, what);
    else t.is((found?.numerator ?? 0n) * of, over * (found?.denominator ?? 0n), `${what} of ${objective.budgeting}`);
  };
  t.is(window.slicesWithData, known);
  is(window.good, good, under, 'good');
  is(window.bad, bad, under, 'bad');
  is(window.total, total, under, 'total');
  is(computeSli(window), good, total, 'indicator');
  // The target is 99 %.
  is(computeBurnRate(window, toObjective(objective)), bad * 100n, total, 'burn rate');
  const slices = BigInt(days * 1440);
  const of = objective.budgeting === 'occurrences' ? total : slices * under;
  const budget = computeBudget(window, toObjective(objective), days * 1440);
  is(budget.remaining, of - bad * 100n, under * 100n, 'budget left');
  is(budget.remainingShare, of - bad * 100n, of, 'share of the budget left');
};

test.serial('window sums equal those of the slices after any replacements and rollups', async (t) => {
  const minute = fc.integer({ min: 0, max: days * 1440 });
  const edge = fc.oneof(
    minute,
    fc.integer({ min: 0, max: days }).map((day) => day * 1440),
  );
  const written = fc.array(
    fc.tuple(
      fc.integer({ min: 0, max: days * 1440 - 1 }),
      fc.integer({ min: 0, max: 7 }),
      fc.integer({ min: 0, max: 7 }),
    ),
    { minLength: 1, maxLength: 30 },
  );
  let round = 0;
  let fromDays = 0;
  await fc.assert(
    fc.asyncProperty(
      ...[fc.constantFrom(...objectives), fc.constantFrom(...objectives)],
      fc.array(fc.oneof(written, fc.constant('sum up' as const)), { minLength: 2, maxLength: 6 }),
      fc.array(fc.tuple(edge, edge), { minLength: 1, maxLength: 3 }),
      async (first, objective, steps, edges) => {
        round += 1;
        const sloId = `random-${round}`;
        const windows = edges.map(([one, other]) => ({
          fromMs: inMinutes(Math.min(one, other)),
          toMs: inMinutes(Math.max(one, other)),
        }));
        const last = new Map<number, Slice>();
        for (const [index, step] of steps.entries())
          if (step === 'sum up') fromDays += await updateDaySums(tables.columns, afterAllWrites());
          else {
            const slices = new Map(step.map(([at, good, more]) => [at, [inMinutes(at), good, good + more] as const]));
            await land(...[sloId, index < 2 ? first : objective], [...slices.values()]);
            for (const [at, slice] of slices) last.set(at, slice);
          }
        const whole = { fromMs: inMinutes(0), toMs: inMinutes(days * 1440) };
        await checkWindows(t, sloId, objective, [...windows, whole]);
        const requests = [{ sloId, series: 's', objective, windows: [...windows, whole] }];
        const summed = (await readWindows(reader(), requests))(0);
        for (const window of [...windows, whole]) {
          const within = [...last.values()].filter(([at]) => at >= window.fromMs && at < window.toMs);
          isExactly(t, summed(window), objective, counted(within, objective));
        }
      },
    ),
    { numRuns: propertyRuns(25) },
  );
  t.true(fromDays > 0);
});

test.serial('a window of whole days reads no slices after the rollup, and reads those of a changed day', async (t) => {
  for (const objective of objectives) {
    const sloId = `quiet-${objective.budgeting}`;
    const slices = Array.from({ length: days * 24 }, (_, hour): Slice => [inMinutes(hour * 60), hour % 5, 5]);
    await land(sloId, objective, slices);
    await updateDaySums(tables.columns, afterAllWrites());
    const statements: string[] = [];
    const own = tables.columns.forTenant('a');
    const columns = {
      ...own,
      query: ((sql: string, ...rest: []) => {
        statements.push(sql);
        return own.query(sql, ...rest);
      }) as typeof own.query,
    };
    const window = { fromMs: beginMs, toMs: beginMs + days * dayMs };
    const requests = [{ sloId, series: 's', objective, windows: [window] }];
    t.is((await readWindows({ columns }, requests))(0)(window).slicesWithData, days * 24);
    t.deepEqual(
      statements.map((sql) => sql.includes('FROM slo_slices')),
      [false],
    );
    await land(sloId, objective, [[inMinutes(61), 9, 9]]);
    t.is((await readWindows({ columns }, requests))(0)(window).slicesWithData, days * 24 + 1);
    t.true(statements.at(-1)?.includes('FROM slo_slices'));
    await checkWindows(t, sloId, objective, [window]);
    // Sums for another slice target or budgeting method must not be used.
    for (const other of [...objectives, { ...plain, budgeting: 'timeslices', sliceTarget: 0.3 } as const])
      await checkWindows(t, sloId, other, [window]);
  }
});

test.serial('excluded parts of a window are not in its sums, but are in the sums of all slices', async (t) => {
  const [objective] = objectives as [SloObjective];
  for (let day = 0; day < days; day++)
    await land(
      ...(['maintained', objective] as const),
      Array.from({ length: 1440 }, (_, minute): Slice => [inMinutes(day * 1440 + minute), 1, 1]),
    );
  await updateDaySums(tables.columns, afterAllWrites());
  const time = fc.integer({ min: 0, max: days * 1440 });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(time, { minLength: 2, maxLength: 10 }), time, time, async (edges, one, other) => {
      const sorted = edges.toSorted((first, second) => first - second);
      const excluded = sorted.flatMap((at, index) =>
        index % 2 === 1 ? [{ fromMs: inMinutes(sorted[index - 1] ?? 0), toMs: inMinutes(at) }] : [],
      );
      const window = { fromMs: inMinutes(Math.min(one, other)), toMs: inMinutes(Math.max(one, other)) };
      const requests = [{ sloId: 'maintained', series: 's', objective, excluded, windows: [window] }];
      const summed = (await readWindows(reader(), requests))(0);
      t.is(summed(window).slicesWithData, countSlices(window, excluded, minuteMs));
      t.is(summed(window, 'all').slicesWithData, (window.toMs - window.fromMs) / minuteMs);
    }),
    { numRuns: propertyRuns(15) },
  );
});

test.serial(
  'slices with an outdated measurement of an objective are not counted, even if another objective has it now',
  async (t) => {
    const [objective] = objectives as [SloObjective];
    const inDay = (day: number, total: number): Slice => [inMinutes(day * 1440 + 7), 1, total];
    await land('now', objective, [inDay(0, 2), inDay(3, 3)]);
    await land('other', objective, [inDay(0, 5), inDay(3, 7)], 'before');
    await land('now', objective, [inDay(0, 11), inDay(3, 13)], 'before');
    await updateDaySums(tables.columns, afterAllWrites());
    await land('now', objective, [inDay(3, 17)], 'before');
    // Rows of one part are stored together, and the index does not separate them.
    for (const table of ['slo_slices', 'slo_day_changes', 'slo_days'])
      await tables.columns.execute(`OPTIMIZE TABLE ${table} FINAL`);
    const window = { fromMs: beginMs, toMs: beginMs + days * dayMs };
    const half = { fromMs: inMinutes(5), toMs: inMinutes(4 * 1440 + 5) };
    for (const windows of [[window], [window, half]]) {
      const requests = [
        { sloId: 'now', series: 's', objective, windows },
        { sloId: 'other', series: 'before', objective, windows },
      ];
      const summed = await readWindows(reader(), requests);
      for (const one of windows) {
        t.deepEqual(summed(0)(one).total, { numerator: 5n, denominator: 1n });
        t.deepEqual(summed(1)(one).total, { numerator: 12n, denominator: 1n });
      }
    }
  },
);

test.serial(
  'days that changed for all or some objectives are read from the slices of only those objectives',
  async (t) => {
    const [objective] = objectives as [SloObjective];
    const ids = ['first', 'second', 'third'];
    const inDay = (day: number, total: number): Slice => [inMinutes(day * 1440 + 7), 1, total];
    for (const id of ids) await land(id, objective, [inDay(0, 2), inDay(1, 3), inDay(2, 5)]);
    await updateDaySums(tables.columns, afterAllWrites());
    for (const id of ids) await land(id, objective, [inDay(1, 7)]);
    await land('second', objective, [inDay(2, 11)]);
    const window = { fromMs: beginMs, toMs: beginMs + days * dayMs };
    const requests = ids.map((sloId) => ({ sloId, series: 's', objective, windows: [window] }));
    const summed = await readWindows(reader(), requests);
    t.deepEqual(
      ids.map((_, place) => summed(place)(window).total.numerator),
      [14n, 20n, 14n],
    );
  },
);

test.serial('totals above exact addition are the same from days and from slices', async (t) => {
  const objective = objectives[2] as SloObjective;
  const many = Array.from({ length: 1300 }, (_, minute): Slice => [inMinutes(minute), minute, minute + 7]);
  await land('many', objective, many);
  const window = { fromMs: beginMs, toMs: beginMs + 2 * dayMs };
  await checkWindows(t, 'many', objective, [window]);
  await updateDaySums(tables.columns, afterAllWrites());
  await checkWindows(t, 'many', objective, [window]);
  await checkWindows(t, 'many', objective, [{ fromMs: beginMs + 600 * minuteMs, toMs: window.toMs }]);
  await land('many', objective, [[inMinutes(1300), 1, 2]]);
  await checkWindows(t, 'many', objective, [window]);
});

test.serial(
  'a day whose slices lost their events is rolled up as empty, and other organizations are not affected',
  async (t) => {
    const [objective] = objectives as [SloObjective];
    await land('gone', objective, [[inMinutes(5), 1, 2]]);
    await updateDaySums(tables.columns, afterAllWrites());
    await land('gone', objective, [[inMinutes(5), 0, 0]]);
    await updateDaySums(tables.columns, afterAllWrites());
    t.is(await updateDaySums(tables.columns, afterAllWrites()), 0);
    t.is(await updateDaySums(tables.columns, beginMs), 0, 'no rollup is old enough');
    const window = { fromMs: beginMs, toMs: beginMs + days * dayMs };
    await checkWindows(t, 'gone', objective, [window]);
    const others = { columns: tables.columns.forTenant('b') };
    const requests = [{ sloId: 'gone', series: 's', objective, windows: [window] }];
    t.is((await readWindows(others, requests))(0)(window).slicesWithData, 0);
  },
);
