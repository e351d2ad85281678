/**
 * Runs as OTLP: valid requests that a library decodes, with a span for the run over its steps, and metrics with the
 * names of the Collector.
 */
import test from 'ava';
import { scanRequest } from '../../../schemas/otlp/scan.ts';
import { SyntheticRun } from '../../../schemas/synthetic-runs.ts';
import { computeRunSpanId, runTelemetry } from '../../../schemas/synthetic-telemetry.ts';
import { decodeHeaders } from '../../../schemas/telemetry-message.ts';
import { type Signal, signals } from '../../../schemas/telemetry-signals.ts';
import { plain, requestTypes } from '../proto/load.ts';

const traceId = 'ab'.repeat(16);
const run = (more: object = {}) =>
  SyntheticRun.parse({
    tenantId: 'a',
    projectId: 'shop',
    checkId: 'c1',
    location: 'l1',
    dueMs: 1_700_000_000_000,
    acceptedMs: 1_700_000_002_000,
    isManual: false,
    checkName: 'Cart',
    checkType: 'http',
    labels: { team: 'x' },
    startedAtMs: 1_700_000_000_100,
    outcome: 'failed',
    attempts: 2,
    durationMs: 30.5,
    message: 'no',
    traceId,
    phases: { connect: 10.25, wait: 20.25 },
    steps: [
      { name: 'login', outcome: 'passed', phases: { connect: 10.25, wait: 10 }, message: '', status: 200 },
      { name: '', outcome: 'failed', phases: { wait: 10.25 }, message: 'no' },
    ],
    ...more,
  });

// biome-ignore lint/suspicious/noExplicitAny: tests read only some paths of a decoded message
type Decoded = any;

/** The decoded messages of runs for a topic, each scanned like a received request. */
const sent = (signal: Signal, ...runs: SyntheticRun[]): Decoded[] =>
  (runTelemetry[signal].buildMessages?.(runs) ?? []).map(({ value, headers }) => {
    const { members, ...telemetryHeaders } = decodeHeaders(headers);
    counted.push(scanRequest(signal, value).records, members[0]?.records ?? 0);
    return { ...telemetryHeaders, ...(plain(requestTypes[signal], value) as object) };
  });
const counted: number[] = [];

test('a run is a span over its steps, whose times are consecutive', (t) => {
  const [message] = sent('traces', run());
  t.is(message.projectId, 'shop');
  t.is(message.keyId, 'checks');
  const [whole, login, second] = message.resourceSpans[0].scopeSpans[0].spans;
  t.is(whole.name, 'Cart');
  t.is(Buffer.from(whole.spanId, 'base64').toString('hex'), computeRunSpanId(traceId));
  t.is(String(whole.startTimeUnixNano), '1700000000100000000');
  t.is(String(whole.endTimeUnixNano), '1700000000130500000');
  t.like(whole.status, { message: 'no' });
  t.is(login.name, 'login');
  t.is(second.name, 'step 2');
  for (const step of [login, second]) t.is(step.parentSpanId, whole.spanId);
  t.deepEqual(login.startTimeUnixNano, whole.startTimeUnixNano);
  t.deepEqual(second.startTimeUnixNano, login.endTimeUnixNano);
  t.deepEqual(second.endTimeUnixNano, whole.endTimeUnixNano);
});

test('metrics of HTTP steps have the names of the Collector, and a step without data has no metric', (t) => {
  const namesOf = (...runs: SyntheticRun[]): string[] =>
    sent('metrics', ...runs).flatMap((message) =>
      message.resourceMetrics[0].scopeMetrics[0].metrics.map(({ name }: { name: string }) => name),
    );
  t.deepEqual(namesOf(run()).toSorted(), [
    ...['httpcheck.client.connection.duration', 'httpcheck.duration', 'httpcheck.error', 'httpcheck.status'],
    ...['synthetics.run.duration', 'synthetics.run.passed'],
  ]);
  t.deepEqual(namesOf(run({ checkType: 'tcp' })), ['synthetics.run.passed', 'synthetics.run.duration']);
  for (const silent of [{ outcome: 'unknown' }, { isManual: true }]) t.deepEqual(namesOf(run(silent)), []);
});

test('certificate validity is exported in the format of the Collector', (t) => {
  const certificate = {
    target: 'shop.example:443',
    issuer: 'CN=CA',
    commonName: 'shop.example',
    names: ['shop.example', 'b.example'],
    expiresAtMs: 1_700_000_000_100 + 86_400_000,
  };
  const step = { name: '', outcome: 'passed', phases: { tls: 9 }, message: '', certificate };
  const left = (change: object): Decoded[] =>
    sent('metrics', run({ outcome: 'passed', steps: [step], ...change })).flatMap((message) =>
      message.resourceMetrics[0].scopeMetrics[0].metrics.filter(
        ({ name }: { name: string }) => name === 'tlscheck.time_left',
      ),
    );
  for (const checkType of ['tls', 'http']) {
    const [metric] = left({ checkType });
    t.is(metric.unit, 's');
    const [point] = metric.gauge.dataPoints;
    t.is(String(point.asInt), '86400');
    const value = (key: string) => point.attributes.find((one: { key: string }) => one.key === key).value;
    t.is(value('tlscheck.target').stringValue, 'shop.example:443');
    t.is(value('tlscheck.x509.issuer').stringValue, 'CN=CA');
    t.is(value('tlscheck.x509.cn').stringValue, 'shop.example');
    t.deepEqual(
      value('tlscheck.x509.san').arrayValue.values.map(({ stringValue }: { stringValue: string }) => stringValue),
      certificate.names,
    );
  }
  const expired = { ...certificate, expiresAtMs: 1_700_000_000_100 - 1500 };
  const [metric] = left({ outcome: 'failed', steps: [{ ...step, outcome: 'failed', certificate: expired }] });
  t.is(String(metric.gauge.dataPoints[0].asInt), '-1');
  t.deepEqual(left({ outcome: 'unknown' }), []);
});

test('a failure is a log record in the trace of its run', (t) => {
  const [message] = sent('logs', run());
  const [record] = message.resourceLogs[0].scopeLogs[0].logRecords;
  t.is(record.body.stringValue, 'Cart failed at l1: no');
  t.is(Buffer.from(record.spanId, 'base64').toString('hex'), computeRunSpanId(traceId));
  t.deepEqual(sent('logs', run({ outcome: 'passed' })), []);
});

test('runs of several projects are separate messages, and all are valid', (t) => {
  const heartbeat = run({ traceId: '', steps: [], phases: {}, checkType: 'heartbeat', projectId: '' });
  for (const signal of signals) {
    counted.length = 0;
    const messages = sent(signal, run(), run({ projectId: 'other' }), heartbeat, run());
    t.is(messages.length, signal === 'traces' ? 2 : 3, signal);
    for (let at = 0; at < counted.length; at += 2) t.is(counted[at], counted[at + 1]);
  }
});
