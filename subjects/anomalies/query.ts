/** Schema of queries for anomalous series. */
import { z } from 'zod';
import { MeasuringQuery } from '../../queries/query.ts';
import { durationSchema } from '../alerts/durations.ts';

const anomalyDirections = ['both', 'above', 'below'] as const;

/** Series that are anomalous at the end of the range: by the scores of a detector, or by the history of a query. */
export const AnomalyQuery = z
  .strictObject({
    kind: z.literal('anomaly'),
    detectorId: z.string().min(1).max(128).optional().describe('Detector whose anomalies are returned'),
    query: MeasuringQuery.optional().describe('Query to score instead of a detector: at most 50,000 points in total'),
    step: durationSchema('10s', '1d').optional().describe('Step of the query, required with it'),
    falseAlarmsPerWeek: z
      .number()
      .min(0.001)
      .max(1000)
      .optional()
      .describe('Allowed false alarms of all series of the query; default 1. A detector has its own'),
    direction: z.enum(anomalyDirections).default('both').describe('Direction of deviations from the expected value'),
  })
  .superRefine(({ detectorId, query, step, falseAlarmsPerWeek }, context) => {
    const rules: readonly (readonly [isWrong: boolean, path: string, message: string])[] = [
      [(detectorId === undefined) === (query === undefined), 'detectorId', 'is required, or a query; not both'],
      [query !== undefined && step === undefined, 'step', 'is required with a query'],
      [query === undefined && step !== undefined, 'step', 'is defined by the detector: omit it'],
      [
        query === undefined && falseAlarmsPerWeek !== undefined,
        'falseAlarmsPerWeek',
        'is defined by the detector: omit it',
      ],
    ];
    for (const [isWrong, path, message] of rules)
      if (isWrong) context.addIssue({ code: 'custom', path: [path], message });
  });
export type AnomalyQuery = z.output<typeof AnomalyQuery>;

declare module '../../queries/query.ts' {
  interface QuerySchemas {
    anomaly: typeof AnomalyQuery;
  }
}
