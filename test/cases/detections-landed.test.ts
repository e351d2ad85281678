/** A lookback over stored logs gives the same signals as the stream. */
import test from 'ava';
import { DetectionSignal } from '../../schemas/signals.ts';
import { backtestLogs } from '../../subjects/detections/backtest-logs.ts';
import { stretched } from '../waiting.ts';
import { deployedRule, detectionRulesForTests, stored } from './detection-rules.ts';
import { DetectionStream } from './detection-stream.ts';
import { type Random, seeded } from './random.ts';
import { firstMs, otlpMessage } from './run-task.ts';
import { openTables, text } from './sink-tables.ts';

const selection = (name: string, item: string): string =>
  `title: ${name}\nname: ${name}\nlogsource: { category: x }\ndetection:\n  s: { ${item} }\n  condition: s\n`;
const rules = [
  ...detectionRulesForTests,
  deployedRule(selection('attribute', 'user.name: ann')),
  deployedRule(selection('number', 'took|gte: 5')),
  deployedRule(selection('nested', 'http.request.method: POST')),
  deployedRule(selection('list', 'tags: blue')),
  deployedRule(selection('json', 'CommandLine|contains: whoami')),
  deployedRule(selection('pair', 'exe|endswith: /nc')),
].map((rule) => stored(rule));

/** Attributes of several types. */
const attributesOf = (random: Random): object[] => [
  ...(random(3) === 0 ? [text('user.name', random(2) === 0 ? 'ann' : 'bob')] : []),
  ...(random(3) === 0
    ? [{ key: 'took', value: random(2) === 0 ? { doubleValue: 5 } : { intValue: String(random(9)) } }]
    : []),
  ...(random(4) === 0
    ? [{ key: 'tags', value: { arrayValue: { values: [{ stringValue: 'red' }, { stringValue: 'blue' }] } } }]
    : []),
];

test.serial('a lookback over landed records gives the signals of the stream', async (t) => {
  const tables = await openTables();
  t.teardown(() => tables.close());
  const random = seeded(4);
  const words = [
    'connected',
    'refused',
    'payment',
    'failed',
    '{"CommandLine":"cmd /c whoami"}',
    'type=EXECVE exe="/bin/nc" a0=nc',
    '{"http":{"request":{"method":"POST"}}}',
  ];
  const pick = (): string => words[random(words.length)] ?? '';
  const stream = new DetectionStream(rules);
  const messages = [];
  let atMs = firstMs;
  for (let offset = 0; offset < 150; offset++) {
    atMs += 1 + random(6_000);
    const attributes = attributesOf(random);
    const record = { timeUnixNano: `${BigInt(atMs) * 1_000_000n}`, body: { stringValue: pick() }, attributes };
    const service = random(2) === 0 ? 'cart' : 'mail';
    stream.logs([record], { 'service.name': service }, atMs + 10);
    const request = {
      resourceLogs: [
        { resource: { attributes: [text('service.name', service)] }, scopeLogs: [{ logRecords: [record] }] },
      ],
    };
    messages.push({ ...otlpMessage('logs', request, { atMs: atMs + 10 }), offset, timestampMs: atMs + 10 });
  }
  stream.tick(atMs + 3_600_000);
  await tables.land(messages);

  const plan = { name: 'all', entitlements: ['logs'], retentionDays: { logs: 30, metrics: 30, traces: 30 } };
  const reader = { columns: tables.columns.forTenant('acme'), nowMs: atMs, plan };
  const range = { from: BigInt(firstMs) * 1_000_000n, to: BigInt(atMs) * 1_000_000n };
  const pageSignals: DetectionSignal[] = [];
  let records = 0;
  const toDeploy = { rules, fields: [], placeholders: [] };
  const isComplete = await backtestLogs(
    reader,
    { toDeploy, tenantId: 'acme', nowMs: atMs, budgetMs: 60_000 },
    { filter: {}, range, limit: 1_000 },
    (page) => {
      pageSignals.push(...page.signals);
      records += page.records;
      return true;
    },
  );
  t.true(isComplete);
  t.is(records, 150);
  const sorted = (signals: readonly DetectionSignal[]): string[] =>
    signals.map((signal) => JSON.stringify(DetectionSignal.parse(signal))).sort();
  const [back, streamed] = [sorted(pageSignals), sorted(stream.signals)];
  t.deepEqual(back.filter((each) => !streamed.includes(each)).slice(0, 1), []);
  t.deepEqual(streamed.filter((each) => !back.includes(each)).slice(0, 1), []);
  const found = new Set(pageSignals.map(({ ruleId }) => ruleId));
  for (const name of ['attribute', 'number', 'nested', 'list', 'json', 'pair', 'both', 'often', 'payment'])
    t.true(found.has(name), name);
});

test.serial(
  'a lookback that takes too long yields to other work, ends at its time limit, and returns partial results',
  async (t) => {
    const tables = await openTables();
    t.teardown(() => tables.close());
    const expressions = Array.from({ length: 400 }, () => "'(x+x+)+$'").join(', ');
    const slow = stored(deployedRule(selection('slow', `CommandLine|re: [${expressions}]`)));
    const quick = stored(deployedRule(selection('quick', 'User: ann')));
    const long = JSON.stringify({ CommandLine: `${'x'.repeat(100_000)}!` });
    const records = Array.from({ length: 240 }, (_, at) => ({
      timeUnixNano: `${BigInt(firstMs + at) * 1_000_000n}`,
      body: { stringValue: at < 100 ? '{"User":"ann"}' : long },
    }));
    const request = { resourceLogs: [{ scopeLogs: [{ logRecords: records }] }] };
    await tables.land([{ ...otlpMessage('logs', request, { atMs: firstMs }), offset: 0, timestampMs: firstMs }]);
    const plan = { name: 'all', entitlements: ['logs'], retentionDays: { logs: 30, metrics: 30, traces: 30 } };
    const reader = { columns: tables.columns.forTenant('acme'), nowMs: firstMs + 1_000, plan };
    const range = { from: BigInt(firstMs) * 1_000_000n, to: BigInt(firstMs + 1_000) * 1_000_000n };
    const runDetections = async (options: { readonly budgetMs: number; readonly signal?: AbortSignal }) => {
      const toDeploy = { rules: [slow, quick], fields: [], placeholders: [] };
      const seen = { records: 0, signals: 0 };
      const run = { ...options, toDeploy, tenantId: 'acme', nowMs: firstMs };
      const isComplete = await backtestLogs(reader, run, { filter: {}, range, limit: 1_000 }, (page) => {
        seen.records += page.records;
        seen.signals += page.signals.length;
        return true;
      });
      return { ...seen, isComplete };
    };
    let ticks = 0;
    const others = setInterval(() => ticks++, 1);
    t.teardown(() => clearInterval(others));
    t.deepEqual(await runDetections({ budgetMs: stretched(3_000) }), { records: 100, signals: 100, isComplete: false });
    clearInterval(others);
    t.true(ticks > 100, `${ticks} turns`);
    const left = new Error('the client left');
    const client = new AbortController();
    const running = runDetections({ budgetMs: 600_000, signal: client.signal });
    setTimeout(() => client.abort(left), 1_000);
    t.is(await t.throwsAsync(running), left);
  },
);
