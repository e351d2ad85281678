/** Which changes of service.version are deployments. */
import test from 'ava';
import { detectDeployments, type VersionActivity } from '../../subjects/services/detection.ts';

const quiet = 5;
const lastKnownStep = 100;
const steps = (...ranges: readonly (readonly [number, number])[]): number[] =>
  ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));

interface Version {
  readonly version: string;
  readonly steps: readonly number[];
  readonly received?: number;
  readonly environment?: string;
}
const seen = ({ version, steps, received = 0, environment = 'live' }: Version): VersionActivity => ({
  service: 'cart',
  environment,
  version,
  steps,
  firstReceivedMs: received,
});

const cases: Readonly<Record<string, readonly [readonly Version[], readonly string[]]>> = {
  'the only known version': [[{ version: '1', steps: steps([10, 90]) }], []],
  'a new version': [
    [
      { version: '1', steps: steps([0, 50]) },
      { version: '2', steps: steps([50, 100]) },
    ],
    ['50 2 after 1'],
  ],
  'a new version that is rolled out instance by instance': [
    [
      { version: '1', steps: steps([0, 70]) },
      { version: '2', steps: steps([50, 100]) },
    ],
    ['50 2 after 1'],
  ],
  'a new version that runs in parallel with the old one and is removed': [
    [
      { version: '1', steps: steps([0, 100]) },
      { version: '2', steps: steps([50, 60]) },
    ],
    ['50 2 after 1'],
  ],
  'a restart, also after a while': [[{ version: '1', steps: steps([0, 20], [40, 100]) }], []],
  'a restart of the version that runs, long after another one': [
    [
      { version: '1', steps: steps([0, 20]) },
      { version: '2', steps: steps([21, 40], [60, 100]) },
    ],
    ['21 2 after 1'],
  ],
  'more instances of the old version while the new one runs': [
    [
      { version: '1', steps: steps([0, 100]) },
      { version: '2', steps: steps([30, 100]) },
    ],
    ['30 2 after 1'],
  ],
  'a rollback': [
    [
      { version: '1', steps: steps([0, 20], [40, 100]) },
      { version: '2', steps: steps([20, 42]) },
    ],
    ['20 2 after 1', '40 1 after 2 (rollback)'],
  ],
  'a rollback, and the new version again': [
    [
      { version: '1', steps: steps([0, 20], [40, 60]) },
      { version: '2', steps: steps([20, 40], [61, 100]) },
    ],
    ['20 2 after 1', '40 1 after 2 (rollback)', '61 2 after 1 (rollback)'],
  ],
  'an old version that returns while the new one continues': [
    [
      { version: '1', steps: steps([0, 20], [40, 50]) },
      { version: '2', steps: steps([20, 100]) },
    ],
    ['20 2 after 1'],
  ],
  'two versions that each send seldom': [
    [
      { version: '1', steps: [0, 20, 40, 60, 80] },
      { version: '2', steps: [10, 30, 50, 70, 90] },
    ],
    ['10 2 after 1'],
  ],
  'a version that was known before its predecessor': [
    [
      { version: '1', steps: steps([50, 100]), received: 1 },
      { version: '2', steps: steps([0, 50]), received: 2 },
    ],
    ['50 1 after 2 (rollback)'],
  ],
  'another environment': [
    [
      { version: '1', steps: steps([0, 100]) },
      { version: '2', steps: steps([50, 100]), environment: 'test' },
    ],
    [],
  ],
  'a rollback while the end of the other version is not known yet': [
    [
      { version: '1', steps: steps([0, 20], [96, 100]) },
      { version: '2', steps: steps([20, 97]) },
    ],
    ['20 2 after 1'],
  ],
};

for (const [title, [versions, expected]] of Object.entries(cases))
  test(`${title}: ${expected.length === 0 ? 'no deployment' : expected.join(', ')}`, (t) => {
    const found = detectDeployments(versions.map(seen), { maxQuietSteps: quiet, lastKnownStep }).sort(
      (one, other) => one.step - other.step,
    );
    t.deepEqual(
      found.map(
        ({ step, version, previousVersion, isRollback }) =>
          `${step} ${version} after ${previousVersion}${isRollback ? ' (rollback)' : ''}`,
      ),
      [...expected],
    );
  });
