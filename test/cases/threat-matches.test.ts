/** What the stream emits for threat indicators in records. */
import test from 'ava';
import { threatMatches } from '../../processors/threat-intel/threat-matches.ts';
import { indicatorBlocks } from '../../schemas/resources/threat-intel.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import type { ThreatMatch } from '../../schemas/threat-matches.ts';
import { topics } from '../../schemas/topics.ts';
import { type BlockIndicator, encodeBlock } from '../../subjects/threat-intel/block.ts';
import { firstMs, TaskRun } from './run-task.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const iso = (ms: number): string => new Date(ms).toISOString();

const indicator = (input: Partial<BlockIndicator> = {}): BlockIndicator => ({
  type: 'ip',
  value: '203.0.113.7',
  source: 'feed',
  confidence: 80,
  validFrom: null,
  validUntil: null,
  isRevoked: false,
  seenAt: iso(firstMs),
  halfLifeDays: null,
  raisesSignals: false,
  ...input,
});
const hold = (run: TaskRun, id: string, indicators: readonly BlockIndicator[] | undefined, tenantId = 'acme'): void => {
  const document =
    indicators === undefined
      ? undefined
      : { ...encodeBlock(indicators), id, version: 1, createdAt: iso(firstMs), updatedAt: iso(firstMs) };
  run.task.applyChange(indicatorBlocks.name, tenantId, id, document);
};
const running = (...indicators: readonly BlockIndicator[]): TaskRun => {
  const run = new TaskRun(threatMatches);
  hold(run, 'first', indicators);
  return run;
};
const log = (run: TaskRun, body: string, atMs = firstMs, host = 'web-1'): void => {
  const record = { timeUnixNano: `${BigInt(atMs) * 1_000_000n}`, body: { stringValue: body } };
  run.logs([record], { 'service.name': 'sshd', 'host.name': host }, { atMs: Math.max(atMs, firstMs) });
};
const matchesOf = (run: TaskRun) => run.emitted<ThreatMatch>(topics.threatMatches);
const countsOf = (run: TaskRun): number[] => matchesOf(run).map(({ count }) => count);
const attack = 'Failed password for root from 203.0.113.7 port 22';

test('a match contains the indicator, its score and the location of the record', (t) => {
  const run = running(indicator());
  log(run, 'all is well');
  log(run, attack);
  const [match, second] = matchesOf(run);
  t.is(second, undefined);
  t.like(match, {
    tenantId: 'acme',
    projectId: 'shop',
    type: 'ip',
    value: '203.0.113.7',
    source: 'feed',
    score: 80,
    field: 'body',
    observed: '203.0.113.7',
    recordId: `${BigInt(firstMs) * 1_000_000n}-0-1-0`,
    timeMs: firstMs,
    count: 1,
    service: 'sshd',
    host: 'web-1',
    user: '',
  });
});

const times: readonly [what: string, given: Partial<BlockIndicator>, afterMs: number, score: number | undefined][] = [
  ['one that has ended', { validUntil: iso(firstMs + hourMs) }, hourMs, undefined],
  ['an indicator that is about to expire', { validUntil: iso(firstMs + hourMs) }, hourMs - 1, 80],
  ['an indicator that is not valid yet', { validFrom: iso(firstMs + hourMs) }, hourMs - 1, undefined],
  ['one that becomes valid', { validFrom: iso(firstMs + hourMs) }, hourMs, 80],
  ['one that was seen a half-life ago', {}, 30 * dayMs, 40],
  ["one that was seen its feed's half-life ago", { halfLifeDays: 7 }, 7 * dayMs, 40],
  ['one that nobody believes any more', { halfLifeDays: 1 }, 20 * dayMs, undefined],
  ['a revoked indicator', { isRevoked: true }, 0, undefined],
];
for (const [what, given, afterMs, score] of times)
  test(`at the record's time: ${what}`, (t) => {
    const run = running(indicator(given));
    log(run, attack, firstMs + afterMs);
    t.deepEqual(
      matchesOf(run).map((match) => match.score),
      score === undefined ? [] : [score],
    );
  });

test('matches of an indicator on a host are grouped per hour, and reported as the count doubles and at the end', (t) => {
  const run = running(indicator());
  for (let second = 0; second < 11; second++) log(run, attack, firstMs + second * 1000);
  log(run, attack, firstMs, 'web-2');
  t.deepEqual(countsOf(run), [1, 2, 4, 8, 1]);
  run.restart();
  hold(run, 'first', [indicator()]);
  run.tick(firstMs + hourMs + 60_000);
  const matches = matchesOf(run);
  t.deepEqual(countsOf(run), [1, 2, 4, 8, 1, 11]);
  t.is(new Set(matches.map(({ id }) => id)).size, 2);
  t.is(matches.at(-1)?.lastMs, firstMs + 10_000);
  log(run, attack, firstMs + 2 * hourMs);
  t.is(new Set(matchesOf(run).map(({ id }) => id)).size, 3, 'the next hour is another match');
});

test('each source of a value has its own match', (t) => {
  const run = running(indicator(), indicator({ source: 'other', confidence: 20 }));
  log(run, attack);
  t.deepEqual(
    matchesOf(run)
      .map(({ source, score }) => [source, score])
      .sort(),
    [
      ['feed', 80],
      ['other', 20],
    ],
  );
});

test('indicators match once they are added, and stop matching when they are removed', (t) => {
  const run = running(indicator({ value: '192.0.2.1' }));
  log(run, attack);
  hold(run, 'second', [indicator()]);
  log(run, attack);
  t.deepEqual(countsOf(run), [1]);
  hold(run, 'third', [indicator({ isRevoked: true, seenAt: iso(firstMs + 1) })]);
  log(run, attack);
  t.deepEqual(countsOf(run), [1]);
  hold(run, 'third', undefined);
  log(run, attack);
  t.deepEqual(countsOf(run), [1, 2], 'what is left counts');
  for (const id of ['first', 'second']) hold(run, id, undefined);
  log(run, attack);
  t.deepEqual(countsOf(run), [1, 2]);
});

test('indicators of another organization match nothing', (t) => {
  const run = new TaskRun(threatMatches);
  hold(run, 'first', [indicator()], 'other');
  log(run, attack);
  t.deepEqual(matchesOf(run), []);
});

test('a match raises one signal if its indicator requests signals, with a severity that follows from the score', (t) => {
  const run = running(indicator({ raisesSignals: true }), indicator({ value: '192.0.2.1' }));
  log(run, attack);
  log(run, attack);
  log(run, '192.0.2.1 connected');
  const signals = run.emitted<DetectionSignal>(topics.signals);
  t.is(signals.length, 1);
  t.like(signals[0], { ruleId: 'threat-intel', severity: 'high', riskScore: 80, eventCount: 1 });
  t.deepEqual(signals[0]?.entities, [
    { type: 'host', value: 'web-1' },
    { type: 'address', value: '203.0.113.7' },
  ]);
});
