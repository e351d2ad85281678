/** What the stream detects, and that a lookback detects the same. */
import test from 'ava';
import { iterateItems } from '../../schemas/records/source.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { DetectionFields, detectionFields, detectionPlaceholders } from '../../schemas/resources/detection-rule.ts';
import { DetectionSignal } from '../../schemas/signals.ts';
import { topics } from '../../schemas/topics.ts';
import { Backtest } from '../../subjects/detections/backtest.ts';
import { compileDeployment } from '../../subjects/detections/deployment.ts';
import { getRecordValues } from '../../subjects/detections/record-event.ts';
import { deployedRule, detectionRulesForTests, ruleTexts, stored } from './detection-rules.ts';
import { DetectionStream } from './detection-stream.ts';
import { seeded } from './random.ts';
import { firstMs, otlpMessage } from './run-task.ts';
import { text } from './sink-tables.ts';

const log = (body: string, atMs = firstMs, attributes: readonly object[] = []) => ({
  timeUnixNano: `${BigInt(atMs) * 1_000_000n}`,
  body: { stringValue: body },
  attributes,
});
const rule = (name: string, selection: string, logsource = 'category: process_creation'): string =>
  `title: ${name}\nname: ${name}\nlogsource: { ${logsource} }\ntags: [attack.execution, attack.t1059.001]\nlevel: high\ndetection:\n  s: ${selection}\n  condition: s\n`;
const group = (name: string, fields: string): string =>
  `title: ${name}\nname: ${name}\ncorrelation:\n  ${fields.replaceAll('\n', '\n  ')}\n`;
const rulesOf = (...texts: readonly string[]) => texts.map((each) => stored(deployedRule(each)));

test('a signal includes the matched rule, the record, the matching fields and its entity', (t) => {
  const stream = new DetectionStream(rulesOf(rule('whoami', '{ CommandLine|contains: whoami }')));
  stream.logs([log('{"CommandLine":"cmd /c whoami","User":"ann","Image":"cmd.exe"}'), log('{"CommandLine":"cmd"}')], {
    'service.name': 'agent',
    'host.name': 'ws-1',
  });
  const [signal, second] = stream.signals;
  t.is(second, undefined);
  t.like(signal, {
    ruleId: 'whoami',
    ruleVersion: 1,
    ruleTitle: 'whoami',
    severity: 'high',
    kind: 'rule',
    tactics: ['execution'],
    techniques: ['T1059.001'],
    eventCount: 1,
  });
  t.deepEqual(signal?.entities, [
    { type: 'user', value: 'ann' },
    { type: 'host', value: 'ws-1' },
    { type: 'process', value: 'cmd.exe' },
  ]);
  t.like(signal?.events[0], { recordId: `${BigInt(firstMs) * 1_000_000n}-0-0-0`, service: 'agent', ruleId: 'whoami' });
  t.deepEqual(signal?.events[0]?.fields, [
    { field: 'CommandLine', path: 'CommandLine', value: 'cmd /c whoami', selection: 's', because: 'contains whoami' },
  ]);
});

const shapes: readonly (readonly [what: string, body: string, attributes: readonly object[]])[] = [
  ['JSON', '{"process":{"command_line":"nc -e"},"user":{"name":"ann"}}', []],
  ['flat attributes', '', [text('process.command_line', 'nc -e'), text('user.name', 'ann')]],
  ['key=value text', 'audit: CommandLine="nc -e" User=ann ok', []],
];
for (const [what, body, attributes] of shapes)
  test(`events are emitted as ${what}`, (t) => {
    const stream = new DetectionStream(rulesOf(rule('nc', '{ CommandLine: nc -e, User: ann }')));
    stream.logs([log(body, firstMs, attributes)]);
    t.is(stream.signals.length, 1);
  });

test('a rule that is deployed, changed or removed takes effect with the next batch', (t) => {
  const stream = new DetectionStream();
  const send = (): void => stream.logs([log('{"CommandLine":"nc"}')]);
  send();
  const deployed = deployedRule(rule('r', '{ CommandLine: nc }'));
  stream.deploy(stored(deployed));
  send();
  stream.deploy(stored(deployed, 2));
  send();
  stream.deploy(stored({ ...deployed, enabled: false }, 3));
  send();
  stream.remove('r');
  send();
  t.deepEqual(
    stream.signals.map(({ ruleVersion }) => ruleVersion),
    [1, 2],
  );
});

test('placeholders, field tables and filters take effect with the next batch', (t) => {
  const deployed = { version: 1, createdAt: '', updatedAt: '' };
  const stream = new DetectionStream(rulesOf(rule('r', "{ User|expand: '%admins%' }", 'product: doors')));
  const { task } = stream.detections;
  const send = (): number => {
    const before = stream.signals.length;
    stream.logs([log('{"vendor":"acme","card":{"holder":"ann"}}'), log('{"vendor":"acme","card":{"holder":"bob"}}')]);
    return stream.signals.length - before;
  };
  t.is(send(), 0);
  const placeholder = { id: 'p', name: 'admins', description: '', values: ['a*', 'b*'], ...deployed };
  task.applyChange(detectionPlaceholders.name, 'acme', 'p', placeholder);
  t.is(send(), 0);
  const sources = [{ when: [{ names: ['vendor'], values: ['acme'] }], is: { product: 'doors' } }];
  const table = DetectionFields.parse({ name: 'doors', rules: [{}], fields: { User: ['card.holder'] }, sources });
  task.applyChange(detectionFields.name, 'acme', 't', { id: 't', ...table, ...deployed });
  t.is(send(), 2);
  const filter =
    'title: f\nname: f\nlogsource: { product: doors }\nfilter:\n  rules: [r]\n  s: { User: bob }\n  condition: not s\n';
  stream.deploy(stored(deployedRule(filter)));
  t.is(send(), 1);
  task.applyChange(detectionPlaceholders.name, 'acme', 'p', undefined);
  t.is(send(), 0);
});

test('a signal covered by an exception is marked, until the exception expires', (t) => {
  const exception = {
    id: 'e1',
    reason: 'a scanner',
    when: { 'User|startswith': 'svc_' },
    expiresAt: new Date(firstMs + 60_000).toISOString(),
  };
  const stream = new DetectionStream([
    stored(deployedRule(rule('r', '{ CommandLine: nc }'), { exceptions: [exception] })),
  ]);
  for (const [user, atMs] of [
    ['svc_1', firstMs],
    ['ann', firstMs],
    ['svc_1', firstMs + 60_000],
  ] as const)
    stream.logs([log(`{"CommandLine":"nc","User":"${user}"}`, atMs)], {}, atMs);
  t.deepEqual(
    stream.signals.map(({ suppressedBy }) => suppressedBy),
    ['e1', '', ''],
  );
});

test('signals with equal fields are deduplicated for a period, and the signal counts its duplicates', (t) => {
  const stream = new DetectionStream([
    stored(deployedRule(rule('r', '{ CommandLine: nc }'), { suppression: { by: ['User'], forSeconds: 60 } })),
  ]);
  for (const [user, seconds] of [
    ['ann', 0],
    ['ann', 30],
    ['bob', 30],
    ['ann', 59],
    ['ann', 61],
  ] as const)
    stream.logs([log(`{"CommandLine":"nc","User":"${user}"}`, firstMs + seconds * 1000)], {}, firstMs + seconds * 1000);
  stream.tick(firstMs + 600_000);
  const last = new Map(stream.signals.map((signal) => [signal.id, signal]));
  t.deepEqual(
    [...last.values()].map(({ group: { User }, timeMs, eventCount, events }) => [
      ...[User, (timeMs - firstMs) / 1000, eventCount],
      events.map((event) => (event.timeMs - firstMs) / 1000),
    ]),
    [
      ['ann', 0, 3, [0, 59]],
      ['bob', 30, 1, [30]],
      ['ann', 61, 1, [61]],
    ],
  );
  // Three signals, of which one was emitted again with a duplicate, and once more with all duplicates after its period.
  t.is(stream.signals.length, 5);
});

test('a rule that is too expensive is disabled, and runs again after it is changed', (t) => {
  const slow = deployedRule(rule('slow', "{ CommandLine|re: '(x+x+)+y' }"));
  const stream = new DetectionStream([stored(slow), ...rulesOf(rule('nc', '{ CommandLine|endswith: nc }'))]);
  const body = JSON.stringify({ CommandLine: `${'x'.repeat(20_000)}ync` });
  for (let sent = 0; sent < 30; sent++) stream.logs(Array.from({ length: 50 }, () => log(body)));
  const events = stream.detections.emitted<{ details: object }>(topics.events);
  t.deepEqual(
    events.map(({ details }) => details),
    [{ ruleId: 'slow', ruleVersion: 1, reason: 'too-slow' }],
  );
  const countOf = (id: string): number => stream.signals.filter(({ ruleId }) => ruleId === id).length;
  t.is(countOf('nc'), 1_500);
  const before = countOf('slow');
  t.true(before > 0 && before < 1_500);
  stream.deploy(stored(slow, 2));
  stream.logs([log(body)]);
  t.is(countOf('slow'), before + 1);
});

const base = [rule('a', '{ CommandLine: a }'), rule('b', '{ CommandLine: b }'), rule('n', '{ CommandLine: n }')];
type Sent = readonly [seconds: number, command: string, user?: string, size?: number];

/** A correlation, the sent records, and the seconds after which it emits signals. */
const windows: readonly (readonly [fields: string, sent: readonly Sent[], signals: readonly number[]])[] = [
  [
    'type: event_count\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { gte: 3 }',
    [
      [0, 'a'],
      [4, 'a'],
      [5, 'b'],
      [9, 'a'],
      [9, 'a'],
      [30, 'a'],
    ],
    [9],
  ],
  [
    'type: event_count\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { gte: 2 }',
    [
      [0, 'a', 'ann'],
      [1, 'a', 'bob'],
      [2, 'a', 'bob'],
      [12, 'a', 'ann'],
    ],
    [2],
  ],
  [
    'type: event_count\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { gte: 2 }',
    [
      [0, 'a'],
      [1, 'a'],
      [20, 'a'],
      [21, 'a'],
    ],
    [1, 21],
  ],
  [
    'type: event_count\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { gt: 1, lte: 2 }',
    [
      [0, 'a'],
      [1, 'a'],
      [20, 'a'],
      [21, 'a'],
      [22, 'a'],
    ],
    [1],
  ],
  [
    'type: value_count\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { field: size, gte: 2 }',
    [
      [0, 'a', 'u', 1],
      [1, 'a', 'u', 1],
      [2, 'a', 'u', 2],
    ],
    [2],
  ],
  [
    'type: value_sum\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { field: size, gt: 10 }',
    [
      [0, 'a', 'u', 6],
      [1, 'a', 'u', 4],
      [2, 'a', 'u', 1],
    ],
    [2],
  ],
  [
    'type: value_avg\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { field: size, gte: 5 }',
    [
      [0, 'a', 'u', 1],
      [1, 'a', 'u', 9],
    ],
    [1],
  ],
  [
    'type: value_percentile\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { field: size, percentile: 90, gt: 8 }',
    [
      [0, 'a', 'u', 1],
      [1, 'a', 'u', 9],
      [2, 'a', 'u', 9],
    ],
    [1],
  ],
  [
    'type: value_median\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { field: size, gte: 5 }',
    [
      [0, 'a', 'u', 1],
      [1, 'a', 'u', 8],
      [2, 'a', 'u', 9],
    ],
    [2],
  ],
  [
    'type: event_count\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { eq: 2 }',
    [
      [0, 'a', 'ann'],
      [1, 'a', 'ann'],
      [0, 'a', 'bob'],
      [1, 'a', 'bob'],
      [2, 'a', 'bob'],
    ],
    [1],
  ],
  [
    'type: temporal\nrules: [a, b]\ngroup-by: [User]\ntimespan: 10s',
    [
      [0, 'b'],
      [20, 'a'],
      [25, 'b'],
    ],
    [25],
  ],
  [
    'type: temporal\nrules: [a, b, n]\ngroup-by: [User]\ntimespan: 10s\ncondition: { gte: 2 }',
    [
      [0, 'b'],
      [5, 'n'],
    ],
    [5],
  ],
  [
    'type: temporal\nrules: [a, b, n]\ngroup-by: [User]\ntimespan: 10s\ncondition: a and (b or n)',
    [
      [0, 'b'],
      [5, 'n'],
      [6, 'a'],
    ],
    [6],
  ],
  [
    'type: temporal_ordered\nrules: [a, b]\ngroup-by: [User]\ntimespan: 10s',
    [
      [0, 'b'],
      [1, 'a'],
      [2, 'b'],
    ],
    [2],
  ],
  [
    'type: temporal\nrules: [a, b]\ngroup-by: [who]\ntimespan: 10s\naliases:\n  who: { a: User, b: Target }',
    [
      [0, 'a', 'ann'],
      [1, 'b', 'bob'],
      [2, 'b', 'ann'],
    ],
    [2],
  ],
  // A late record counts at its own time.
  [
    'type: event_count\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { gte: 3 }',
    [
      [0, 'a'],
      [9, 'a'],
      [4, 'a'],
    ],
    [9],
  ],
];

for (const [fields, sent, expected] of windows)
  test(`correlates ${JSON.stringify(fields)} over ${JSON.stringify(sent)}`, (t) => {
    const stream = new DetectionStream(rulesOf(...base, group('c', fields)));
    for (const [seconds, CommandLine, User = 'u', size = 0] of sent) {
      const atMs = firstMs + seconds * 1000;
      stream.logs([log(JSON.stringify({ CommandLine, User, Target: User, size }), atMs)], {}, atMs);
      stream.restart();
    }
    stream.tick(firstMs + 3_600_000);
    t.deepEqual(
      stream.signals.filter(({ ruleId }) => ruleId === 'c').map(({ timeMs }) => (timeMs - firstMs) / 1000),
      [...expected],
    );
  });

test('rules referenced by a correlation emit no signals of their own, unless the correlation enables it', (t) => {
  const fields = 'type: event_count\nrules: [a]\ntimespan: 10s\ncondition: { gte: 2 }';
  for (const [more, expected] of [
    ['', ['c']],
    ['\ngenerate: true', ['a', 'a', 'c']],
  ] as const) {
    const stream = new DetectionStream(rulesOf(...base, group('c', fields + more)));
    stream.logs([log('{"CommandLine":"a"}'), log('{"CommandLine":"a"}', firstMs + 1)]);
    t.deepEqual(stream.signals.map(({ ruleId }) => ruleId).sort(), [...expected]);
  }
});

test('a correlation can reference another correlation', (t) => {
  const stream = new DetectionStream(
    rulesOf(
      ...base,
      group('many', 'type: event_count\nrules: [a]\ngroup-by: [User]\ntimespan: 10s\ncondition: { gte: 2 }'),
      group('then', 'type: temporal_ordered\nrules: [many, b]\ngroup-by: [User]\ntimespan: 1m'),
    ),
  );
  for (const [seconds, command] of [
    [0, 'b'],
    [1, 'a'],
    [2, 'a'],
    [5, 'b'],
  ] as const)
    stream.logs(
      [log(`{"CommandLine":"${command}","User":"ann"}`, firstMs + seconds * 1000)],
      {},
      firstMs + seconds * 1000,
    );
  stream.tick(firstMs + 3_600_000);
  t.deepEqual(
    stream.signals.map(({ ruleId }) => ruleId),
    ['then'],
  );
});

test('a correlation that references itself or an undeployed rule is reported', (t) => {
  const rules = rulesOf(
    group('x', 'type: temporal\nrules: [y]\ntimespan: 1m'),
    group('y', 'type: temporal\nrules: [x]\ntimespan: 1m'),
    group('z', 'type: temporal\nrules: [nothing]\ntimespan: 1m'),
  );
  t.deepEqual(
    compileDeployment(rules, [], []).problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
    [
      'x: it references itself through other correlations',
      'y: it references itself through other correlations',
      'z: it references nothing, which is not deployed',
    ],
  );
});

test('a lookback gives the same signals as the stream', (t) => {
  const words = ['connected', 'refused', 'payment', 'failed', 'order'];
  for (let seed = 1; seed <= 20; seed++) {
    const random = seeded(seed);
    const rules = detectionRulesForTests.map((each) => stored(each));
    const stream = new DetectionStream(rules);
    const backtest = new Backtest(compileDeployment(rules, [], []), firstMs);
    const results: object[] = [];
    let atMs = firstMs;
    for (let offset = 0; offset < 150; offset++) {
      atMs += random(12_000);
      const resource = { 'service.name': ['cart', 'mail'][random(2)] ?? '' };
      const records = Array.from({ length: 1 + random(3) }, (_, at) =>
        log(`${words[random(5)]} ${words[random(5)]} ${random(9)}`, atMs + at),
      );
      stream.logs(records, resource, atMs + 10);
      const request = {
        resourceLogs: [
          {
            resource: { attributes: [text('service.name', resource['service.name'])] },
            scopeLogs: [{ logRecords: records }],
          },
        ],
      };
      const message = { ...otlpMessage('logs', request, { atMs: atMs + 10 }), key: '', offset, timestampMs: atMs + 10 };
      for (const record of iterateItems(logRecords, message, { topic: topics.logs.name, partition: 0 })) {
        const { tenantId, projectId, timeMs, service } = record;
        results.push(
          ...backtest.add({
            tenantId,
            projectId,
            timeMs,
            service,
            recordId: record.recordId,
            values: getRecordValues(record),
          }),
        );
      }
    }
    stream.tick(atMs + 3_600_000);
    results.push(...backtest.end());
    // A signal emitted again with the same id is the same signal.
    const sorted = (signals: readonly object[]): string[] => {
      const parsed = signals.map((signal) => DetectionSignal.parse(signal));
      const last = new Map(parsed.map((signal) => [signal.id, signal]));
      return [...last.values()].map((signal) => JSON.stringify(signal)).sort();
    };
    t.true(results.length > 100);
    const [back, streamed] = [sorted(results), sorted(stream.signals)];
    t.deepEqual(back.filter((each) => !streamed.includes(each)).slice(0, 1), [], `seed ${seed}`);
    t.deepEqual(streamed.filter((each) => !back.includes(each)).slice(0, 1), [], `seed ${seed}`);
    t.is(back.length, streamed.length);
  }
});

test('the rules of these tests are valid', (t) => {
  t.is(detectionRulesForTests.length, Object.keys(ruleTexts).length);
});
