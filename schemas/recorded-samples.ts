/**
 * Series that rules record. They are emitted as values and published to the bus in Prometheus's format, so that they
 * are stored like the samples of a Prometheus server.
 */
import { z } from 'zod';
import { PermanentError } from './errors.ts';
import { WireWriter } from './protobuf/writer.ts';
import { encodeHeaders } from './telemetry-message.ts';
import type { DerivedTopic } from './topic.ts';
import { topics } from './topics.ts';

/** A native histogram as PromQL returns it: fractional counts per bucket instead of deltas. */
const RecordedHistogram = z.strictObject({
  schema: z.int(),
  zeroThreshold: z.number(),
  zeroCount: z.number(),
  count: z.number(),
  sum: z.number().or(z.enum(['NaN', '+Inf', '-Inf'])),
  positiveSpans: z.array(z.strictObject({ offset: z.int(), length: z.int() })),
  positiveBuckets: z.array(z.number()),
  negativeSpans: z.array(z.strictObject({ offset: z.int(), length: z.int() })),
  negativeBuckets: z.array(z.number()),
  customValues: z.array(z.number()).optional(),
});
export type RecordedHistogram = z.output<typeof RecordedHistogram>;

/** JSON has no number for some values. `stale` ends a series: it is Prometheus's staleness marker. */
const RecordedValue = z.union([z.number(), z.enum(['NaN', '+Inf', '-Inf', 'stale']), RecordedHistogram]);
export type RecordedValue = z.output<typeof RecordedValue>;

export const RecordedSeries = z.strictObject({
  labels: z.record(z.string().min(1), z.string().min(1)).describe('Labels, including the name as `__name__`'),
  value: RecordedValue,
});
export type RecordedSeries = z.output<typeof RecordedSeries>;

/** Samples with one timestamp. */
export const RecordedSamples = z.strictObject({
  tenantId: z.string(),
  projectId: z.string().describe('Project ID; empty for the entire organization'),
  atMs: z.int(),
  series: z.array(RecordedSeries).min(1),
});
export type RecordedSamples = z.output<typeof RecordedSamples>;

/** Used by the usage ledger instead of a license key ID. */
const recordingKeyId = 'rules';

/** A special NaN that Prometheus reads as the end of a series. */
const staleBits = 0x7ff0000000000002n;
const specialNumbers: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  '+Inf': Number.POSITIVE_INFINITY,
  '-Inf': Number.NEGATIVE_INFINITY,
};

/** Returns the JSON form of a number. */
export const toRecordedNumber = (value: number): number | 'NaN' | '+Inf' | '-Inf' => {
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
};

const encodeZigzag = (value: number): number => (value >= 0 ? value * 2 : -value * 2 - 1);

const writeMessage = (writer: WireWriter, tag: number, write: () => void): void => {
  writer.writeVarint(tag);
  const mark = writer.beginLengthPrefixed();
  write();
  writer.endLengthPrefixed(mark);
};

const writeText = (writer: WireWriter, tag: number, text: string): void =>
  writeMessage(writer, tag, () => writer.writeUtf8(text));

const writeDouble = (writer: WireWriter, tag: number, value: number): void => {
  writer.writeByte(tag);
  writer.writeDouble(value);
};

const writeDoubles = (writer: WireWriter, tag: number, values: readonly number[]): void => {
  if (values.length > 0) writeMessage(writer, tag, () => values.forEach((value) => void writer.writeDouble(value)));
};

const writeSpans = (writer: WireWriter, tag: number, spans: RecordedHistogram['positiveSpans']): void => {
  for (const { offset, length } of spans)
    writeMessage(writer, tag, () => {
      writer.writeByte(0x08);
      writer.writeVarint(encodeZigzag(offset));
      writer.writeByte(0x10);
      writer.writeVarint(length);
    });
};

/** Writes a `Histogram` message; `schemas/prometheus/messages.ts` declares the fields behind the tags. */
const writeHistogram = (writer: WireWriter, histogram: RecordedHistogram, atMs: number): void => {
  const { count, sum, schema, zeroThreshold, zeroCount, customValues = [] } = histogram;
  writeDouble(writer, 0x11, count);
  writeDouble(writer, 0x19, typeof sum === 'number' ? sum : (specialNumbers[sum] as number));
  writer.writeByte(0x20);
  writer.writeVarint(encodeZigzag(schema));
  writeDouble(writer, 0x29, zeroThreshold);
  writeDouble(writer, 0x39, zeroCount);
  writeSpans(writer, 0x42, histogram.negativeSpans);
  writeDoubles(writer, 0x52, histogram.negativeBuckets);
  writeSpans(writer, 0x5a, histogram.positiveSpans);
  writeDoubles(writer, 0x6a, histogram.positiveBuckets);
  // Results of a rule are gauges, as in Prometheus.
  writer.writeByte(0x70);
  writer.writeVarint(3);
  writer.writeByte(0x78);
  writer.writeVarint(atMs);
  writeDoubles(writer, 0x82, customValues);
};

const writeSample = (writer: WireWriter, value: number | string, atMs: number): void => {
  writer.writeByte(0x09);
  if (value === 'stale') writer.writeFixed64(staleBits);
  else writer.writeDouble(typeof value === 'number' ? value : (specialNumbers[value] as number));
  writer.writeByte(0x10);
  writer.writeVarint(atMs);
};

const compareLabelNames = ([left]: readonly [string, string], [right]: readonly [string, string]): number =>
  Buffer.compare(Buffer.from(left), Buffer.from(right));

const writeSeries = (writer: WireWriter, { labels, value }: RecordedSeries, atMs: number): void =>
  writeMessage(writer, 0x0a, () => {
    for (const [name, text] of Object.entries(labels).sort(compareLabelNames))
      writeMessage(writer, 0x0a, () => {
        writeText(writer, 0x0a, name);
        writeText(writer, 0x12, text);
      });
    if (typeof value === 'object') writeMessage(writer, 0x22, () => writeHistogram(writer, value, atMs));
    else writeMessage(writer, 0x12, () => writeSample(writer, value, atMs));
  });

/** Returns a remote-write 1.0 request with these samples. */
export const encodeWriteRequest = (batches: readonly Pick<RecordedSamples, 'atMs' | 'series'>[]): Buffer => {
  const writer = new WireWriter(4096);
  for (const { atMs, series } of batches) {
    if (atMs < 0) throw new PermanentError('bad-time', `samples of the time ${atMs} are from before 1970`);
    for (const recordedSeries of series) writeSeries(writer, recordedSeries, atMs);
  }
  return writer.finish();
};

/**
 * One message per project, because a telemetry message belongs to one project. The same values give the same messages.
 */
const buildMessages = (values: readonly RecordedSamples[]) =>
  [...Map.groupBy(values, ({ projectId }) => projectId)].map(([projectId, projectValues]) => {
    const value = encodeWriteRequest(projectValues);
    const records = projectValues.reduce((sum, { series }) => sum + series.length, 0);
    const receivedAtMs = Math.max(...projectValues.map(({ atMs }) => atMs));
    const member = { length: value.length, size: value.length, records, receivedAtMs, source: '', traceparent: '' };
    const headers = encodeHeaders({
      tenantId: projectValues[0]?.tenantId ?? '',
      projectId,
      keyId: recordingKeyId,
      signal: 'metrics',
      format: 'remote-write-1',
      encoding: 'identity',
      members: [member],
    });
    return { value, headers };
  });

/** The remote-write topic, for components that emit samples to it. */
export const recordedSamples: DerivedTopic<typeof RecordedSamples> = {
  ...topics.remoteWrite,
  value: z.array(RecordedSamples),
  item: RecordedSamples,
  getTenant: ({ tenantId }) => tenantId,
  // All samples of a series are in one partition, in order. Metric names distribute a tenant's series.
  getKey: ({ series }) => series[0]?.labels['__name__'] ?? '',
  buildMessages,
};
