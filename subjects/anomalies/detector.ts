/** What a detector says: which series are watched, and what of them is told. */
import { z } from 'zod';
import { signalsOf } from '../../queries/freshness.ts';
import { Query, queryVersion as understood } from '../../queries/query.ts';
import { type ReadSignal, signals } from '../../queries/signals/index.ts';
import { detectorDirections } from '../../schemas/anomalies.ts';
import type { StoredDetector } from '../../schemas/resources/anomaly-detector.ts';
import { duration } from '../alerts/durations.ts';

/** What callers write of a detector. */
export const DetectorFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  projectId: z.string().min(1).max(128).nullable().default(null).describe('The project that its anomalies belong to'),
  enabled: z.boolean().default(true),
  query: Query.describe('Each group of its answer is a series, 10,000 at most'),
  step: duration('10s', '1d').default('1m').describe('Each step is a point of every series'),
  delay: duration('0s', '1h')
    .default('15s')
    .describe('How long after its end a step is asked for: what lands later is not scored'),
  falseAlarmsPerWeek: z
    .number()
    .min(0.001)
    .max(1000)
    .default(1)
    .describe('How many false alarms are allowed, for all its series together'),
  minChange: z
    .number()
    .min(0)
    .max(Number.MAX_VALUE)
    .default(0)
    .describe('The least change that matters, in the unit of the query: a smaller one is no anomaly'),
  direction: z.enum(detectorDirections).default('both').describe('Which way a change must go to matter'),
  labels: z
    .record(z.string().regex(/^[A-Za-z_][\w.]{0,127}$/), z.string().max(512))
    .default({})
    .describe('Of its anomalies, beside those of the series'),
});
export type DetectorFields = z.output<typeof DetectorFields>;

/** A stored detector as it is run; undefined where its form is not understood here. */
export const readDetector = (stored: StoredDetector): DetectorFields | undefined => {
  if (stored.queryVersion > understood) return undefined;
  const known = Object.fromEntries(Object.entries(stored).filter(([name]) => name in DetectorFields.shape));
  return DetectorFields.safeParse(known).data;
};

/** What telemetry a detector reads. */
export const signalsWatched = ({ query }: Pick<DetectorFields, 'query'>): readonly ReadSignal[] => signalsOf(query);

/** What a plan must include besides `ai`, so that it can be run. */
export const entitlementsOf = (detector: Pick<DetectorFields, 'query'>): string[] =>
  signalsWatched(detector).map((signal) => signals[signal].entitlement);
