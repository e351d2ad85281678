/**
 * Converts runs of synthetic checks to OTLP and publishes them to the bus in an exporter's format, so that they are
 * stored like exported telemetry.
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

const createTextAttribute = (key: string, stringValue: string): Attribute => ({ key, value: { stringValue } });
const createIntegerAttribute = (key: string, value: number): Attribute => ({ key, value: { intValue: BigInt(value) } });
const createDoubleAttribute = (key: string, doubleValue: number): Attribute => ({ key, value: { doubleValue } });

/** Converts to nanoseconds without loss: times of phases are fractions of milliseconds. */
const toNanoseconds = (ms: number): bigint => BigInt(Math.floor(ms)) * 1_000_000n + BigInt(Math.round((ms % 1) * 1e6));

/** Returns the span ID of a run, which its requests name as their parent (`traceparent`): 16 hexadecimal digits. */
export const computeRunSpanId = (traceId: string): string =>
  createHash('sha256').update(traceId).digest('hex').slice(0, 16);

const computeStepSpanId = (traceId: string, index: number): Buffer =>
  createHash('sha256').update(`${traceId}\0${index}`).digest().subarray(0, 8);

const parseHex = (hexadecimal: string): Buffer => Buffer.from(hexadecimal, 'hex');

/** Attributes that identify a check and its run. Labels of the check are attributes below `oiq.check.label.`. */
const buildRunAttributes = ({ checkId, checkName, checkType, location, outcome, isManual, labels }: SyntheticRun) => [
  ...[
    createTextAttribute('oiq.check.id', checkId),
    createTextAttribute('oiq.check.name', checkName),
    createTextAttribute('oiq.check.type', checkType),
  ],
  ...[createTextAttribute('oiq.location', location), createTextAttribute('oiq.run.outcome', outcome)],
  { key: 'oiq.run.manual', value: { boolValue: isManual } },
  ...Object.entries(labels).map(([name, value]) => createTextAttribute(`oiq.check.label.${name}`, value)),
];

const okStatusCode = 1;
const errorStatusCode = 2;
const internalSpanKind = 1;
const clientSpanKind = 3;

const toSpanStatus = ({ outcome, message }: Pick<Step, 'outcome' | 'message'>): OtlpMessage<'Status'> => {
  if (outcome === 'unknown') return {};
  return outcome === 'failed' ? { code: errorStatusCode, message } : { code: okStatusCode };
};

const toPhaseAttributes = (phases: Step['phases']): Attribute[] =>
  Object.entries(phases).map(([phase, ms]) => createDoubleAttribute(`oiq.phase.${phase}`, ms));

const sumPhaseMs = ({ phases }: Step): number => Object.values(phases).reduce((sum, ms) => sum + ms, 0);

/**
 * A span of the run, with one child span per step in sequence. None for runs that no probe performed, such as those of
 * a heartbeat.
 */
const buildSpans = (run: SyntheticRun): OtlpMessage<'Span'>[] => {
  if (run.traceId === '') return [];
  const traceId = parseHex(run.traceId);
  const parent = parseHex(computeRunSpanId(run.traceId));
  let atMs = run.startedAtMs;
  const steps = run.steps.map((step, index): OtlpMessage<'Span'> => {
    const fromMs = atMs;
    atMs += sumPhaseMs(step);
    return {
      traceId,
      spanId: computeStepSpanId(run.traceId, index),
      parentSpanId: parent,
      kind: clientSpanKind,
      name: step.name === '' ? `step ${index + 1}` : step.name,
      startTimeUnixNano: toNanoseconds(fromMs),
      endTimeUnixNano: toNanoseconds(atMs),
      status: toSpanStatus(step),
      attributes: [
        ...toPhaseAttributes(step.phases),
        ...(step.status === undefined ? [] : [createIntegerAttribute('http.response.status_code', step.status)]),
      ],
    };
  });
  const span: OtlpMessage<'Span'> = {
    traceId,
    spanId: parent,
    name: run.checkName,
    kind: internalSpanKind,
    status: toSpanStatus(run),
    startTimeUnixNano: toNanoseconds(run.startedAtMs),
    endTimeUnixNano: toNanoseconds(run.startedAtMs + run.durationMs),
    attributes: [
      ...buildRunAttributes(run),
      createIntegerAttribute('oiq.run.attempts', run.attempts),
      ...toPhaseAttributes(run.phases),
    ],
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
type Measurement = readonly [name: string, unit: string, value: number | bigint, attributes?: readonly Attribute[]];

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'];

const toStepAttribute = (step: Step, index: number): Attribute =>
  createTextAttribute('oiq.step', step.name === '' ? String(index + 1) : step.name);

/** In the format of the collector's receiver `tlscheck`. */
const measureTimeLeft = (step: Step, index: number, atMs: number): Measurement[] => {
  if (step.certificate === undefined) return [];
  const { target, expiresAtMs, issuer, commonName, names } = step.certificate;
  const values = names.map((stringValue) => ({ stringValue }));
  const attributes = [
    ...[
      toStepAttribute(step, index),
      createTextAttribute('tlscheck.target', target),
      createTextAttribute('tlscheck.x509.issuer', issuer),
    ],
    ...[
      createTextAttribute('tlscheck.x509.cn', commonName),
      { key: 'tlscheck.x509.san', value: { arrayValue: { values } } },
    ],
  ];
  return [['tlscheck.time_left', 's', BigInt(Math.trunc((expiresAtMs - atMs) / 1000)), attributes]];
};

const measureStep = (step: Step, index: number): Measurement[] => {
  const stepAttributes = [toStepAttribute(step, index)];
  const durations = Object.entries(step.phases).flatMap(([phase, ms]): Measurement[] => {
    const name = phaseMetrics[phase];
    return name === undefined ? [] : [[name, 'ms', ms, stepAttributes]];
  });
  const { status } = step;
  if (status === undefined)
    return step.outcome === 'failed'
      ? [
          ...durations,
          ['httpcheck.error', '{error}', 1, [...stepAttributes, createTextAttribute('error.message', step.message)]],
        ]
      : durations;
  const classes = statusClasses.map((statusClass, classIndex): Measurement => {
    const isMatchingClass = Math.floor(status / 100) === classIndex + 1;
    const attributes = [
      ...stepAttributes,
      createIntegerAttribute('http.status_code', status),
      createTextAttribute('http.status_class', statusClass),
    ];
    return ['httpcheck.status', '1', isMatchingClass ? 1 : 0, attributes];
  });
  return [...durations, ['httpcheck.duration', 'ms', sumPhaseMs(step), stepAttributes], ...classes];
};

/** No measurements for a run that was started manually, or whose result does not describe the target. */
const buildMeasurements = (run: SyntheticRun): Measurement[] => {
  if (run.isManual || run.outcome === 'unknown') return [];
  const measurements: Measurement[] = [
    ['synthetics.run.passed', '1', run.outcome === 'failed' ? 0 : 1],
    ['synthetics.run.duration', 'ms', run.durationMs],
    ...run.steps.flatMap((step, index) => measureTimeLeft(step, index, run.startedAtMs)),
  ];
  return run.checkType === 'http' ? [...measurements, ...run.steps.flatMap(measureStep)] : measurements;
};

const buildMetrics = (run: SyntheticRun): OtlpMessage<'Metric'>[] => {
  const { checkId, checkName, checkType, location, labels } = run;
  // A series belongs to a check and a location; the outcome of a run is a value.
  const seriesAttributes = [
    ...[
      createTextAttribute('oiq.check.id', checkId),
      createTextAttribute('oiq.check.name', checkName),
      createTextAttribute('oiq.check.type', checkType),
    ],
    ...[createTextAttribute('oiq.location', location)],
    ...Object.entries(labels).map(([name, value]) => createTextAttribute(`oiq.check.label.${name}`, value)),
  ];
  const timeUnixNano = toNanoseconds(run.startedAtMs);
  return [...Map.groupBy(buildMeasurements(run), ([name]) => name)].map(([name, points]) => ({
    name,
    unit: points[0]?.[1] ?? '',
    gauge: {
      dataPoints: points.map(([, , value, pointAttributes = []]) => ({
        timeUnixNano,
        ...(typeof value === 'bigint' ? { asInt: value } : { asDouble: value }),
        attributes: [...seriesAttributes, ...pointAttributes],
      })),
    },
  }));
};

const errorSeverityNumber = 17;

/** A log record of a failed run. */
const buildLogRecords = (run: SyntheticRun): OtlpMessage<'LogRecord'>[] =>
  run.outcome !== 'failed'
    ? []
    : [
        {
          timeUnixNano: toNanoseconds(run.startedAtMs),
          severityNumber: errorSeverityNumber,
          severityText: 'ERROR',
          attributes: buildRunAttributes(run),
          body: { stringValue: `${run.checkName} failed at ${run.location}: ${run.message}` },
          ...(run.traceId !== '' && {
            traceId: parseHex(run.traceId),
            spanId: parseHex(computeRunSpanId(run.traceId)),
          }),
        },
      ];

const resource = { attributes: [createTextAttribute('service.name', serviceName)] };

/** A request of a telemetry signal: message name, content, and number of records */
interface Request {
  readonly value: Buffer;
  readonly records: number;
}

const encodeRequest = <Name extends 'LogsRequest' | 'MetricsRequest' | 'TracesRequest'>(
  name: Name,
  message: OtlpMessage<Name>,
  records: number,
): Request => {
  const writer = new WireWriter(4096);
  writeMessage(writer, name, message);
  return { value: writer.finish(), records };
};

const requestEncoders: Readonly<Record<Signal, (runs: readonly SyntheticRun[]) => Request>> = {
  traces(runs) {
    const spans = runs.flatMap(buildSpans);
    return encodeRequest(
      'TracesRequest',
      { resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] },
      spans.length,
    );
  },
  metrics(runs) {
    const metrics = runs.flatMap(buildMetrics);
    const points = metrics.reduce((sum, { gauge }) => sum + (gauge?.dataPoints?.length ?? 0), 0);
    return encodeRequest(
      'MetricsRequest',
      { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] },
      points,
    );
  },
  logs(runs) {
    const logRecords = runs.flatMap(buildLogRecords);
    const message = { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] };
    return encodeRequest('LogsRequest', message, logRecords.length);
  },
};

/**
 * One message per project, because a telemetry message belongs to one project. The same runs give the same messages.
 */
const buildMessages = (signal: Signal) => (values: readonly SyntheticRun[]) =>
  [...Map.groupBy(values, ({ projectId }) => projectId)].flatMap(([projectId, projectRuns]) => {
    const { value, records } = requestEncoders[signal](projectRuns);
    if (records === 0) return [];
    const receivedAtMs = Math.max(...projectRuns.map(({ acceptedMs }) => acceptedMs));
    const member = { length: value.length, size: value.length, records, receivedAtMs, source: '', traceparent: '' };
    const headers = encodeHeaders({
      tenantId: projectRuns[0]?.tenantId ?? '',
      projectId,
      keyId: checksKeyId,
      signal,
      format: 'otlp',
      encoding: 'identity',
      members: [member],
    });
    return [{ value, headers }];
  });

const buildTopic = (topic: Topic, signal: Signal): DerivedTopic<typeof SyntheticRun> => ({
  ...topic,
  value: z.array(SyntheticRun),
  item: SyntheticRun,
  getTenant: ({ tenantId }) => tenantId,
  // All measurements of a check at a location are in one partition, in order.
  getKey: ({ checkId, location }) => `${checkId}/${location}`,
  buildMessages: buildMessages(signal),
});

/** The OTLP topics, for components that emit runs to them. */
export const runTelemetry = {
  traces: buildTopic(topics.traces, 'traces'),
  metrics: buildTopic(topics.metrics, 'metrics'),
  logs: buildTopic(topics.logs, 'logs'),
};
