/** Schema of a detector: monitored series, and the anomalies to report. */
import { z } from 'zod';
import { listSignals } from '../../queries/freshness.ts';
import { Query, queryVersion as supportedQueryVersion } from '../../queries/query.ts';
import { type ReadSignal, signalDefinitions } from '../../queries/signals/index.ts';
import { detectorDirections } from '../../schemas/anomalies.ts';
import type { StoredDetector } from '../../schemas/resources/anomaly-detector.ts';
import { durationSchema } from '../alerts/durations.ts';

/** Fields of a detector that callers write. */
export const DetectorFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  projectId: z.string().min(1).max(128).nullable().default(null).describe('Project of the anomalies'),
  enabled: z.boolean().default(true),
  query: Query.describe('Query; each group of its result is a series, 10,000 at most'),
  step: durationSchema('10s', '1d').default('1m').describe('Step; each step is a point of every series'),
  delay: durationSchema('0s', '1h')
    .default('15s')
    .describe('Delay of the query after the end of a step; data that arrives later is not scored'),
  falseAlarmsPerWeek: z
    .number()
    .min(0.001)
    .max(1000)
    .default(1)
    .describe('Allowed number of false alarms, over all series of the detector'),
  minChange: z
    .number()
    .min(0)
    .max(Number.MAX_VALUE)
    .default(0)
    .describe('Minimum change, in the unit of the query; a smaller change is not an anomaly'),
  direction: z.enum(detectorDirections).default('both').describe('Direction of relevant changes'),
  labels: z
    .record(z.string().regex(/^[A-Za-z_][\w.]{0,127}$/), z.string().max(512))
    .default({})
    .describe('Labels of its anomalies, in addition to those of the series'),
});
export type DetectorFields = z.output<typeof DetectorFields>;

/** Returns a stored detector in executable form; undefined if its schema is unsupported. */
export const parseStoredDetector = (stored: StoredDetector): DetectorFields | undefined => {
  if (stored.queryVersion > supportedQueryVersion) return undefined;
  const knownFields = Object.fromEntries(Object.entries(stored).filter(([name]) => name in DetectorFields.shape));
  return DetectorFields.safeParse(knownFields).data;
};

/** Returns the telemetry that a detector reads. */
export const getMonitoredSignals = ({ query }: Pick<DetectorFields, 'query'>): readonly ReadSignal[] =>
  listSignals(query);

/** Returns the entitlements besides `ai` that a plan must include to run the detector. */
export const listRequiredEntitlements = (detector: Pick<DetectorFields, 'query'>): string[] =>
  getMonitoredSignals(detector).map((signal) => signalDefinitions[signal].entitlement);
