/**
 * The two remote-write schemas: `prometheus.WriteRequest` (prompb/remote.proto, prompb/types.proto) and
 * `io.prometheus.write.v2.Request` (prompb/io/prometheus/write/v2/types.proto).
 */
import { compileSchema, type MessageDeclarations } from '../protobuf/messages.ts';

const nativeHistogram = {
  countInt: [1, 'uint64'],
  countFloat: [2, 'double'],
  sum: [3, 'double'],
  schema: [4, 'sint32'],
  zeroThreshold: [5, 'double'],
  zeroCountInt: [6, 'uint64'],
  zeroCountFloat: [7, 'double'],
  negativeSpans: [8, 'BucketSpan', 'repeated'],
  negativeDeltas: [9, 'sint64', 'repeated'],
  negativeCounts: [10, 'double', 'repeated'],
  positiveSpans: [11, 'BucketSpan', 'repeated'],
  positiveDeltas: [12, 'sint64', 'repeated'],
  positiveCounts: [13, 'double', 'repeated'],
  resetHint: [14, 'enum'],
  timestamp: [15, 'recordMilliseconds'],
  customValues: [16, 'double', 'repeated'],
} as const;

const bucketSpan = { offset: [1, 'sint32'], length: [2, 'uint32'] } as const;

/** Remote-Write 1.0. */
export const writeRequestMessages = {
  WriteRequest: { timeseries: [1, 'TimeSeries', 'repeated'], metadata: [3, 'MetricMetadata', 'repeated'] },
  TimeSeries: {
    labels: [1, 'Label', 'repeated'],
    samples: [2, 'Sample', 'repeated'],
    exemplars: [3, 'Exemplar', 'repeated'],
    histograms: [4, 'Histogram', 'repeated'],
  },
  Label: { name: [1, 'string'], value: [2, 'string'] },
  Sample: { value: [1, 'double'], timestamp: [2, 'recordMilliseconds'] },
  Exemplar: { labels: [1, 'Label', 'repeated'], value: [2, 'double'], timestamp: [3, 'milliseconds'] },
  Histogram: nativeHistogram,
  BucketSpan: bucketSpan,
  MetricMetadata: { type: [1, 'enum'], metricFamilyName: [2, 'string'], help: [4, 'string'], unit: [5, 'string'] },
} as const satisfies MessageDeclarations;

/** Remote-Write 2.0. `createdTimestamp` existed until 2.0-rc.3; `startTimestamp` replaced it in rc.4. */
export const writeRequest2Messages = {
  Request: { symbols: [4, 'string', 'repeated'], timeseries: [5, 'TimeSeries', 'repeated'] },
  TimeSeries: {
    labelsRefs: [1, 'uint32', 'repeated'],
    samples: [2, 'Sample', 'repeated'],
    histograms: [3, 'Histogram', 'repeated'],
    exemplars: [4, 'Exemplar', 'repeated'],
    metadata: [5, 'Metadata'],
    createdTimestamp: [6, 'milliseconds'],
  },
  Sample: { value: [1, 'double'], timestamp: [2, 'recordMilliseconds'], startTimestamp: [3, 'milliseconds'] },
  Exemplar: { labelsRefs: [1, 'uint32', 'repeated'], value: [2, 'double'], timestamp: [3, 'milliseconds'] },
  Histogram: { ...nativeHistogram, startTimestamp: [17, 'milliseconds'] },
  BucketSpan: bucketSpan,
  Metadata: { type: [1, 'enum'], helpRef: [3, 'uint32'], unitRef: [4, 'uint32'] },
} as const satisfies MessageDeclarations;

const records = { records: ['Sample', 'Histogram'], nesting: [] };

/** A sink creates a row per sample and histogram, which are the records of a request. */
export const writeRequestSchema = compileSchema(writeRequestMessages, records);
export const writeRequest2Schema = compileSchema(writeRequest2Messages, records);
