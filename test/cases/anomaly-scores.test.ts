/** What detectors emit for their series, from points to anomalies. */
import test from 'ava';
import { anomalyScores } from '../../processors/anomaly-scores/anomaly-scores.ts';
import { type WatchedSeries, watchedDetectors } from '../../processors/anomaly-scores/watched-detectors.ts';
import { toChunks } from '../../processors/engine/task-snapshot.ts';
import type { AnomalyChange, AnomalyEvaluation, AnomalyPoints, AnomalyScores } from '../../schemas/anomalies.ts';
import { anomalyFeedback, buildFeedbackId } from '../../schemas/resources/anomaly-feedback.ts';
import { topics } from '../../schemas/topics.ts';
import { scoreSeries } from '../../subjects/anomalies/scores/scorer.ts';
import { stateBytes } from '../../subjects/anomalies/scores/state.ts';
import { randomOf } from './random.ts';
import { TaskRun } from './run-task.ts';

const stepMs = 60_000;
const startMs = Date.UTC(2026, 0, 5);
const trainingSteps = 2 * 1440;

type DetectorOptions = Partial<Omit<AnomalyPoints, 'detector'>> & {
  readonly detector?: Partial<AnomalyPoints['detector']>;
};

/** Points of a detector from step `from` on; services by name. */
const create = (
  from: number,
  services: Readonly<Record<string, readonly (number | null)[]>>,
  { detector, ...more }: DetectorOptions = {},
): AnomalyPoints => {
  const steps = Math.max(1, ...Object.values(services).map(({ length }) => length));
  return {
    tenantId: 'acme',
    detectorId: 'd',
    question: 'q',
    stepMs,
    detector: {
      name: 'Errors',
      projectId: '',
      labels: { team: 'shop' },
      direction: 'both',
      leastChange: 0,
      falseAlarmsPerWeek: 0.2,
      signals: ['logs'],
      ...detector,
    },
    fromMs: startMs + from * stepMs,
    toMs: startMs + (from + steps) * stepMs,
    lookMs: startMs + (from + steps) * stepMs,
    mode: 'now',
    part: 0,
    isLast: true,
    counts: ['count'],
    gaps: [],
    learntFromMs: startMs,
    learnsUntilMs: null,
    seriesCount: 2,
    error: '',
    series: Object.entries(services).map(([service, values]) => ({
      name: 'count',
      unit: '{record}',
      labels: { service },
      values: [...values],
    })),
    ...more,
  };
};

const about = (mean: number, seed: number): ((index: number) => number) => {
  const random = randomOf(seed);
  return () => Math.round(mean + 10 * (random() + random() + random() - 1.5));
};
const filled = (steps: number, value: (index: number) => number): number[] =>
  Array.from({ length: steps }, (_, index) => value(index));

/** A detector of two services, trained with two days of history. */
const trainDetector = (more: DetectorOptions = {}) => {
  const run = new TaskRun(anomalyScores);
  const values = { a: about(100, 1), b: about(100, 2) };
  const history = { a: filled(trainingSteps, values.a), b: filled(trainingSteps, values.b) };
  run.values([create(0, history, { ...more, mode: 'learning' })]);
  let at = trainingSteps;
  const next = (services: Readonly<Record<string, number | null>>, own: DetectorOptions = {}): void => {
    const points = Object.fromEntries(Object.entries(services).map(([name, value]) => [name, [value]]));
    run.values([create(at++, points, { ...more, ...own })]);
  };
  const runNormal = (steps: number, own: DetectorOptions = {}): void => {
    for (let i = 0; i < steps; i++) next({ a: values.a(i), b: values.b(i) }, own);
  };
  const changes = (): AnomalyChange[] => run.emitted<AnomalyChange>(topics.anomalies);
  return { run, next, runNormal, changes, history, values };
};

const changeTexts = (changes: readonly AnomalyChange[]) =>
  changes.map(({ change, labels, direction }) => `${change} ${labels['service']} ${direction}`);

test('a detector learns its history without alerts, and later scores equal those of the scorer, bit by bit', (t) => {
  const { run, runNormal, history } = trainDetector();
  t.deepEqual(run.emitted(topics.anomalyScores), []);
  runNormal(30);
  const rows = run
    .emitted<AnomalyScores>(topics.anomalyScores)
    .flatMap(({ series }) => series)
    .filter(({ key }, _, all) => key === all[0]?.key)
    .flatMap(({ points }) => points);
  const again = about(100, 1);
  filled(trainingSteps, again);
  const values = [...history.a, ...filled(30, again)];
  const { scored } = scoreSeries(
    values.map((value, index) => [startMs + index * stepMs, value]),
    { falseAlarmsPerWeek: 0.1 },
  );
  t.deepEqual(
    rows.map(([at, , expected, low, high, score]) => [at, expected, low, high, score]),
    scored.slice(trainingSteps).map(({ timeMs, expected, low, high, score }) => [timeMs, expected, low, high, score]),
  );
});

test('an anomaly starts and ends, and each emits an event', (t) => {
  const { run, next, runNormal, changes } = trainDetector();
  runNormal(20);
  for (let i = 0; i < 3; i++) next({ a: 400, b: 100 });
  runNormal(100);
  const [first, ...rest] = changes();
  t.is(first?.change, 'begin');
  t.deepEqual(first?.labels, { service: 'a' });
  t.is(first?.direction, 'up');
  t.true((first?.score ?? 0) > 0.99);
  t.is(rest.at(-1)?.change, 'end');
  t.deepEqual(
    rest.map(({ id }) => id),
    rest.map(() => first?.id),
  );
  t.deepEqual(
    changes().map(({ number }) => number),
    changes().map((_, index) => index + 1),
  );
  const events = run.emitted<{ kind: string; title: string; text: string }>(topics.events);
  t.is(events.length, changes().length);
  t.is(events[0]?.kind, 'anomaly');
  t.is(events[0]?.title, 'Errors: anomaly began, service=a');
  t.regex(events[0]?.text ?? '', /^higher than expected: 400 record, expected \d/);
});

const cases: readonly (readonly [
  title: string,
  DetectorOptions,
  (values: ReturnType<typeof trainDetector>) => void,
  string[],
])[] = [
  [
    'a known group of a count without records has the value 0',
    {},
    ({ next, values }) => {
      for (let i = 0; i < 8; i++) next({ b: values.b(i) });
    },
    ['begin a down'],
  ],
  [
    'a missing point of another aggregation is not 0',
    { counts: [] },
    ({ next, values }) => {
      for (let i = 0; i < 30; i++) next({ b: values.b(i) });
    },
    [],
  ],
  [
    'a step without any received data is a gap',
    {},
    ({ run, runNormal }) => {
      for (let i = 0; i < 10; i++) {
        const at = trainingSteps + i;
        run.values([create(at, {}, { gaps: [startMs + at * stepMs] })]);
      }
      runNormal(30);
    },
    [],
  ],
  [
    'a repeated step changes nothing',
    {},
    ({ run, runNormal }) => {
      runNormal(5);
      for (let i = 0; i < 5; i++) run.values([create(trainingSteps + i, { a: [900], b: [900] })]);
    },
    [],
  ],
  [
    'late steps emit no start; after the catch-up, a lasting anomaly is emitted',
    {},
    ({ next }) => {
      for (let i = 0; i < 5; i++) next({ a: 400, b: 100 }, { mode: 'late' });
      next({ a: 400, b: 100 });
    },
    ['begin a up'],
  ],
  [
    'an anomaly that started and ended during a catch-up is not emitted',
    {},
    ({ next, runNormal }) => {
      for (let i = 0; i < 3; i++) next({ a: 400, b: 100 }, { mode: 'late' });
      runNormal(60, { mode: 'late' });
      runNormal(5);
    },
    [],
  ],
  [
    'a change in the other direction is ignored',
    { detector: { direction: 'up' } },
    ({ next }) => {
      for (let i = 0; i < 8; i++) next({ a: 0, b: 100 });
    },
    [],
  ],
  [
    'a change below the minimum is not emitted',
    { detector: { leastChange: 400 } },
    ({ next }) => {
      for (let i = 0; i < 3; i++) next({ a: 300, b: 100 });
    },
    [],
  ],
  [
    'a change that grows above the minimum is emitted',
    { detector: { leastChange: 400 } },
    ({ next }) => {
      for (const value of [200, 300, 450, 600]) next({ a: value, b: 100 });
    },
    ['begin a up'],
  ],
  [
    'a disabled detector ends its anomalies',
    {},
    ({ next }) => {
      next({ a: 400, b: 100 });
      next({}, { mode: 'over' });
      next({ a: 400, b: 100 });
    },
    ['begin a up', 'end a up'],
  ],
  [
    'a changed query ends anomalies and restarts learning',
    {},
    ({ next }) => {
      next({ a: 400, b: 100 });
      next({ a: 400, b: 100 }, { question: 'another' });
      next({ a: 4000, b: 100 }, { question: 'another' });
    },
    ['begin a up', 'end a up'],
  ],
];
for (const [title, more, happens, expected] of cases)
  test(title, (t) => {
    const detector = trainDetector(more);
    happens(detector);
    const started = changeTexts(detector.changes()).filter((text) => !text.startsWith('worse'));
    t.deepEqual(started, expected);
  });

test('a new series has no zeros before its first records', (t) => {
  const late = new TaskRun(anomalyScores);
  const value = about(100, 1);
  const own = [...filled(900, () => 0), ...filled(900, value)];
  late.values([create(0, { a: own }, { mode: 'learning' })]);
  late.values([create(own.length, { a: [value(0)] })]);
  late.values([create(own.length + 1, { a: [400] })]);
  t.deepEqual(changeTexts(late.emitted<AnomalyChange>(topics.anomalies)), ['begin a up']);
});

test('a detector reports its progress, and series with too little history', (t) => {
  const young = new TaskRun(anomalyScores);
  young.values([create(0, { a: [1, 2, 3] })]);
  const [evaluation] = young.emitted<AnomalyEvaluation>(topics.anomalyEvaluations);
  t.is(evaluation?.learning, 1);
  t.is(evaluation?.speaksFromMs, startMs + 600 * stepMs);
  t.is(evaluation?.upToMs, startMs + 3 * stepMs);
  const { run, next } = trainDetector();
  next({ a: 400, b: 100 }, { error: 'not all series are monitored' });
  const evaluations = run.emitted<AnomalyEvaluation>(topics.anomalyEvaluations);
  t.deepEqual(
    evaluations.map(({ number, series, learning, speaksFromMs, open }) => [
      number,
      series,
      learning,
      speaksFromMs,
      open,
    ]),
    [
      [1, 2, 0, null, 0],
      [2, 2, 0, null, 1],
    ],
  );
  t.is(evaluations[1]?.error, 'not all series are monitored');
});

test('after a restart from a snapshot scores and anomalies continue as without a restart', (t) => {
  const detectors = [trainDetector(), trainDetector()] as const;
  for (const [index, { run, next, runNormal }] of detectors.entries()) {
    runNormal(5);
    next({ a: 400, b: 100 });
    if (index === 1) run.restart();
    next({ a: 500, b: 100 });
    runNormal(20);
  }
  t.deepEqual(
    detectors[1].run.messages.map(({ value }) => Buffer.from(value).toString()),
    detectors[0].run.messages.map(({ value }) => Buffer.from(value).toString()),
  );
});

/** A daily job of three minutes with the given sizes; returns what is emitted for it. */
const jobs = (sizes: readonly number[], verdicts: readonly ('true' | 'false' | undefined)[]) => {
  const detector = trainDetector();
  const marks: object[] = [];
  let version = 0;
  const begins: boolean[] = [];
  for (const [index, size] of sizes.entries()) {
    const before = detector.changes().length;
    detector.runNormal(240);
    for (let i = 0; i < 3; i++) detector.next({ a: size, b: 100 });
    detector.runNormal(30);
    const started = detector
      .changes()
      .slice(before)
      .find(({ change }) => change === 'begin');
    begins.push(started !== undefined);
    const last = detector.changes().at(-1);
    const verdict = verdicts[index];
    if (started === undefined || last === undefined || verdict === undefined) continue;
    const { id, key, direction, value, before: expected, beginMs } = last;
    marks.push({ anomalyId: id, verdict, direction, change: value - (expected ?? 0), atMs: beginMs });
    const documentId = buildFeedbackId('d', key);
    const feedback = {
      id: documentId,
      version: ++version,
      createdAt: '',
      updatedAt: '',
      detectorId: 'd',
      series: key,
      marks,
    };
    detector.run.task.applyChange(anomalyFeedback.name, 'acme', documentId, feedback);
  }
  return begins;
};

test('after two "false" verdicts a job no longer alarms, but a job of three times its size does', (t) => {
  t.deepEqual(jobs([300, 310, 305, 295, 1000], ['false', 'false']), [true, true, false, false, true]);
});

test('an anomaly marked true is still reported', (t) => {
  t.deepEqual(jobs([300, 300, 290], ['false', 'true']).slice(0, 1), [true]);
});

test('a series takes at most 2,112 bytes of a snapshot, and is restored unchanged', (t) => {
  const state = watchedDetectors.open();
  const watched = {
    queryHash: 'q',
    watchedFromMs: 1,
    evaluationCount: 3,
    unmonitoredCount: 0,
    series: new Map<string, WatchedSeries>(),
  };
  state.detectors.set('detector', watched);
  const ms = Date.UTC(2026, 0, 5);
  for (let index = 0; index < 100; index++)
    state.add(watched, index.toString(16).padStart(16, '0'), {
      name: 'requests',
      unit: '1/s',
      labels: { 'service.name': `a-service-with-a-name-${index}` },
      firstMs: ms,
      upToMs: ms + 300_000,
      seenMs: ms + 300_000,
      isScored: true,
      episode: undefined,
      scorerState: new Uint8Array(stateBytes).fill(index),
    });
  const saved = Buffer.concat(toChunks(watchedDetectors.save(state)));
  t.true(saved.byteLength / 100 <= 2112, String(saved.byteLength / 100));
  // Other versions of the processor save and restore these names.
  t.true(saved.includes('["detector",{"question":"q","watchedFromMs":1,"looks":3,"refused":0},'));
  t.deepEqual(watchedDetectors.open(saved).detectors, state.detectors);
  // The format before clocks were stored at the end of each state.
  const former = stateBytes - 32;
  const head = 4 + saved.readUInt32LE(0);
  const parts = Array.from({ length: 100 }, (_, index) =>
    saved.subarray(head + index * stateBytes).subarray(0, former),
  );
  for (const { scorerState } of watched.series.values()) scorerState.fill(0, former);
  const older = Buffer.concat([saved.subarray(0, head), ...parts]);
  t.deepEqual(watchedDetectors.open(watchedDetectors.upgrade?.(older, 2)).detectors, state.detectors);
});
