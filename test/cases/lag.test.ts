import test from 'ava';
import { lagReport, largestShare } from '../../commands/lag.ts';
import type { Lag } from '../../schemas/ports/bus.ts';
import { silent } from '../../schemas/ports/log.ts';

const groups = [
  { group: 'known', topics: ['a'] },
  { group: 'lost', topics: ['b'] },
];

test('Lag that is not known any more is NaN, not what it was, and of the one group only', async (t) => {
  let isAway = false;
  const reported = new Map<string, number>();
  const lagOf = async (group: string, [topic = '']: readonly string[]): Promise<Lag[]> => {
    if (isAway && group === 'lost') throw new Error('the coordinator is away');
    return [{ topic, partition: 0, committed: 1, end: 8, lag: 7 }];
  };
  const report = lagReport(
    {
      bus: { lag: lagOf },
      metrics: {
        set: (name, value, labels) => {
          if (name === 'oiq_consumer_lag_messages' && 'group' in labels) reported.set(String(labels.group), value);
        },
      },
      log: silent,
    },
    groups,
  );
  const seen: unknown[] = [];
  for (const away of [false, true, false]) {
    isAway = away;
    await report();
    seen.push(Object.fromEntries(reported));
  }
  t.deepEqual(seen, [
    { known: 7, lost: 7 },
    { known: 7, lost: Number.NaN },
    { known: 7, lost: 7 },
  ]);
});

test('The share of the partition that lags most says whether the others wait for it', (t) => {
  const lagging = (...lags: number[]): Lag[] =>
    lags.map((lag, partition) => ({ topic: 'a', partition, committed: 0, end: lag, lag }));
  t.is(largestShare(lagging(0, 0, 0)), 0);
  t.is(largestShare(lagging(5, 5, 5, 5)), 0.25);
  t.is(largestShare(lagging(0, 90, 10)), 0.9);
  t.is(largestShare(lagging(7)), 0, 'there is nothing to spread over');
  t.is(largestShare(lagging(Number.NaN, Number.NaN)), Number.NaN, 'unknown stays unknown');
});
