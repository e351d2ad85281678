/**
 * Runs of synthetic checks as OTLP, published to the bus in an exporter's format, so that they are stored like exported
 * telemetry.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type OtlpMessage, writeMessage } from './otlp/write.ts';
import { WireWriter } from './protobuf/writer.ts';
import { SyntheticRun } from './synthetic-runs.ts';
import { encodeHeaders } from './telemetry-message.ts';
import type { Signal } from './telemetry-signals.ts';
import type { DerivedTopic, Topic } from './topic.ts';
import { topics } from './topics.ts';

/** Used by the usage ledger instead of a license key ID. */
const checksKeyId = 'checks';
/** Service name that distinguishes runs from other telemetry. */
const serviceName = 'synthetics';
const scope = { name: 'oiq.synthetics' };

type Attribute = OtlpMessage<'KeyValue'>;
type Step = SyntheticRun['steps'][number];

const text = (key: string, stringValue: string): Attribute => ({ key, value: { stringValue } });
const whole = (key: string, value: number): Attribute => ({ key, value: { intValue: BigInt(value) } });
const decimal = (key: string, doubleValue: number): Attribute => ({ key, value: { doubleValue } });

/** Converts to nanoseconds without loss: times of phases are fractions of milliseconds. */
const nanoseconds = (ms: number): bigint => BigInt(Math.floor(ms)) * 1_000_000n + BigInt(Math.round((ms % 1) * 1e6));

/** Returns the span ID of a run, which its requests name as their parent (`traceparent`): 16 hexadecimal digits. */
export const runSpanId = (traceId: string): string => createHash('sha256').update(traceId).digest('hex').slice(0, 16);

const stepSpanId = (traceId: string, index: number): Buffer =>
  createHash('sha256').update(`${traceId}\0${index}`).digest().subarray(0, 8);

const bytesOf = (hexadecimal: string): Buffer => Buffer.from(hexadecimal, 'hex');

/** Attributes that identify a check and its run. Labels of the check are attributes below `oiq.check.label.`. */
const attributesOf = ({ checkId, checkName, checkType, location, outcome, isManual, labels }: SyntheticRun) => [
  ...[text('oiq.check.id', checkId), text('oiq.check.name', checkName), text('oiq.check.type', checkType)],
  ...[text('oiq.location', location), text('oiq.run.outcome', outcome)],
  { key: 'oiq.run.manual', value: { boolValue: isManual } },
  ...Object.entries(labels).map(([name, value]) => text(`oiq.check.label.${name}`, value)),
];

const ok = 1;
const failed = 2;
const internal = 1;
const client = 3;

const statusOf = ({ outcome, message }: Pick<Step, 'outcome' | 'message'>): OtlpMessage<'Status'> => {
  if (outcome === 'unknown') return {};
  return outcome === 'failed' ? { code: failed, message } : { code: ok };
};

const phasesOf = (phases: Step['phases']): Attribute[] =>
  Object.entries(phases).map(([phase, ms]) => decimal(`oiq.phase.${phase}`, ms));

const lengthOf = ({ phases }: Step): number => Object.values(phases).reduce((sum, ms) => sum + ms, 0);

/**
 * A span of the run, with one child span per step in sequence. None for runs that no probe performed, such as those of
 * a heartbeat.
 */
const spansOf = (run: SyntheticRun): OtlpMessage<'Span'>[] => {
  if (run.traceId === '') return [];
  const traceId = bytesOf(run.traceId);
  const parent = bytesOf(runSpanId(run.traceId));
  let atMs = run.startedAtMs;
  const steps = run.steps.map((step, index): OtlpMessage<'Span'> => {
    const fromMs = atMs;
    atMs += lengthOf(step);
    return {
      traceId,
      spanId: stepSpanId(run.traceId, index),
      parentSpanId: parent,
      kind: client,
      name: step.name === '' ? `step ${index + 1}` : step.name,
      startTimeUnixNano: nanoseconds(fromMs),
      endTimeUnixNano: nanoseconds(atMs),
      status: statusOf(step),
      attributes: [
        ...phasesOf(step.phases),
        ...(step.status === undefined ? [] : [whole('http.response.status_code', step.status)]),
      ],
    };
  });
  const span: OtlpMessage<'Span'> = {
    traceId,
    spanId: parent,
    name: run.checkName,
    kind: internal,
    status: statusOf(run),
    startTimeUnixNano: nanoseconds(run.startedAtMs),
    endTimeUnixNano: nanoseconds(run.startedAtMs + run.durationMs),
    attributes: [...attributesOf(run), whole('oiq.run.attempts', run.attempts), ...phasesOf(run.phases)],
  };
  return [span, ...steps];
};

/** Metric names of the collector's receiver `httpcheck`, by phase. */
const phaseMetrics: Readonly<Record<string, string>> = {
  lookup: 'httpcheck.dns.lookup.duration',
  connect: 'httpcheck.client.connection.duration',
  tls: 'httpcheck.tls.handshake.duration',
  send: 'httpcheck.client.request.duration',
  receive: 'httpcheck.response.duration',
};

/** One measurement: its name, unit, value (an integer if it is a bigint) and own attributes. */
type Measured = readonly [name: string, unit: string, value: number | bigint, attributes?: readonly Attribute[]];

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'];

const nameOf = (step: Step, index: number): Attribute =>
  text('oiq.step', step.name === '' ? String(index + 1) : step.name);

/** In the format of the collector's receiver `tlscheck`. */
const timeLeftOf = (step: Step, index: number, atMs: number): Measured[] => {
  if (step.certificate === undefined) return [];
  const { target, expiresAtMs, issuer, commonName, names } = step.certificate;
  const values = names.map((stringValue) => ({ stringValue }));
  const attributes = [
    ...[nameOf(step, index), text('tlscheck.target', target), text('tlscheck.x509.issuer', issuer)],
    ...[text('tlscheck.x509.cn', commonName), { key: 'tlscheck.x509.san', value: { arrayValue: { values } } }],
  ];
  return [['tlscheck.time_left', 's', BigInt(Math.trunc((expiresAtMs - atMs) / 1000)), attributes]];
};

const measuredOfStep = (step: Step, index: number): Measured[] => {
  const named = [nameOf(step, index)];
  const durations = Object.entries(step.phases).flatMap(([phase, ms]): Measured[] => {
    const name = phaseMetrics[phase];
    return name === undefined ? [] : [[name, 'ms', ms, named]];
  });
  const { status } = step;
  if (status === undefined)
    return step.outcome === 'failed'
      ? [...durations, ['httpcheck.error', '{error}', 1, [...named, text('error.message', step.message)]]]
      : durations;
  const classes = statusClasses.map((one, at): Measured => {
    const isIts = Math.floor(status / 100) === at + 1;
    const attributes = [...named, whole('http.status_code', status), text('http.status_class', one)];
    return ['httpcheck.status', '1', isIts ? 1 : 0, attributes];
  });
  return [...durations, ['httpcheck.duration', 'ms', lengthOf(step), named], ...classes];
};

/** No measurements for a run that was started manually, or whose result does not describe the target. */
const measuredOf = (run: SyntheticRun): Measured[] => {
  if (run.isManual || run.outcome === 'unknown') return [];
  const all: Measured[] = [
    ['synthetics.run.passed', '1', run.outcome === 'failed' ? 0 : 1],
    ['synthetics.run.duration', 'ms', run.durationMs],
    ...run.steps.flatMap((step, index) => timeLeftOf(step, index, run.startedAtMs)),
  ];
  return run.checkType === 'http' ? [...all, ...run.steps.flatMap(measuredOfStep)] : all;
};

const metricsOf = (run: SyntheticRun): OtlpMessage<'Metric'>[] => {
  const { checkId, checkName, checkType, location, labels } = run;
  // A series belongs to a check and a location; the outcome of a run is a value.
  const series = [
    ...[text('oiq.check.id', checkId), text('oiq.check.name', checkName), text('oiq.check.type', checkType)],
    ...[text('oiq.location', location)],
    ...Object.entries(labels).map(([name, value]) => text(`oiq.check.label.${name}`, value)),
  ];
  const timeUnixNano = nanoseconds(run.startedAtMs);
  return [...Map.groupBy(measuredOf(run), ([name]) => name)].map(([name, points]) => ({
    name,
    unit: points[0]?.[1] ?? '',
    gauge: {
      dataPoints: points.map(([, , value, own = []]) => ({
        timeUnixNano,
        ...(typeof value === 'bigint' ? { asInt: value } : { asDouble: value }),
        attributes: [...series, ...own],
      })),
    },
  }));
};

const error = 17;

/** A log record of a failed run. */
const recordsOf = (run: SyntheticRun): OtlpMessage<'LogRecord'>[] =>
  run.outcome !== 'failed'
    ? []
    : [
        {
          timeUnixNano: nanoseconds(run.startedAtMs),
          severityNumber: error,
          severityText: 'ERROR',
          attributes: attributesOf(run),
          body: { stringValue: `${run.checkName} failed at ${run.location}: ${run.message}` },
          ...(run.traceId !== '' && { traceId: bytesOf(run.traceId), spanId: bytesOf(runSpanId(run.traceId)) }),
        },
      ];

const resource = { attributes: [text('service.name', serviceName)] };

/** A request of a telemetry signal: message name, content, and number of records */
interface Request {
  readonly value: Buffer;
  readonly records: number;
}

const requestOf = <Name extends 'LogsRequest' | 'MetricsRequest' | 'TracesRequest'>(
  name: Name,
  message: OtlpMessage<Name>,
  records: number,
): Request => {
  const writer = new WireWriter(4096);
  writeMessage(writer, name, message);
  return { value: writer.finish(), records };
};

const requests: Readonly<Record<Signal, (runs: readonly SyntheticRun[]) => Request>> = {
  traces(runs) {
    const spans = runs.flatMap(spansOf);
    return requestOf('TracesRequest', { resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] }, spans.length);
  },
  metrics(runs) {
    const metrics = runs.flatMap(metricsOf);
    const points = metrics.reduce((sum, { gauge }) => sum + (gauge?.dataPoints?.length ?? 0), 0);
    return requestOf('MetricsRequest', { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] }, points);
  },
  logs(runs) {
    const logRecords = runs.flatMap(recordsOf);
    const message = { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] };
    return requestOf('LogsRequest', message, logRecords.length);
  },
};

/**
 * One message per project, because a telemetry message belongs to one project. The same runs give the same messages.
 */
const messagesOf = (signal: Signal) => (values: readonly SyntheticRun[]) =>
  [...Map.groupBy(values, ({ projectId }) => projectId)].flatMap(([projectId, own]) => {
    const { value, records } = requests[signal](own);
    if (records === 0) return [];
    const receivedAtMs = Math.max(...own.map(({ acceptedMs }) => acceptedMs));
    const member = { length: value.length, size: value.length, records, receivedAtMs, source: '', traceparent: '' };
    const headers = encodeHeaders({
      tenantId: own[0]?.tenantId ?? '',
      projectId,
      keyId: checksKeyId,
      signal,
      format: 'otlp',
      encoding: 'identity',
      members: [member],
    });
    return [{ value, headers }];
  });

const topicOf = (topic: Topic, signal: Signal): DerivedTopic<typeof SyntheticRun> => ({
  ...topic,
  value: z.array(SyntheticRun),
  item: SyntheticRun,
  tenantOf: ({ tenantId }) => tenantId,
  // All measurements of a check at a location are in one partition, in order.
  keyOf: ({ checkId, location }) => `${checkId}/${location}`,
  messagesOf: messagesOf(signal),
});

/** The OTLP topics, for components that emit runs to them. */
export const runTelemetry = {
  traces: topicOf(topics.traces, 'traces'),
  metrics: topicOf(topics.metrics, 'metrics'),
  logs: topicOf(topics.logs, 'logs'),
};
