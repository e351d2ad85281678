/** Schema of a group of recording rules, for the API, rule files and evaluation. */
import { z } from 'zod';
import { PromqlQuery } from '../../../queries/query.ts';
import { durationSchema, minInterval } from '../durations.ts';

/** Maximum number of rules in one group. */
const maxRecordingRules = 500;

const nonEmptyName = z.string().min(1).max(256);
const labelName = nonEmptyName.refine((text) => text !== '__name__', 'is the name of the series: set it as `record`');

const RecordingRuleFields = z.strictObject({
  record: nonEmptyName.describe('Name of the recorded series'),
  expression: PromqlQuery.shape.expression.describe('PromQL expression that returns a vector or a number'),
  labels: z
    .record(labelName, z.string().max(2048))
    .default({})
    .describe('Labels of the recorded series, which override those of the result; an empty value removes the label'),
  place: z.int().min(0).optional().describe('Index in the group of the file, among the alert rules'),
});

/** Fields of a group that callers write. */
export const RecordingGroupFields = z.strictObject({
  name: z.string().min(1).max(256).describe('Name, unique within its file'),
  file: z.string().max(256).default('').describe('Rule file of origin; importing the file again replaces the group'),
  enabled: z.boolean().default(true).describe('Whether the group records series; when it is disabled, its series end'),
  interval: durationSchema(minInterval, '1d')
    .default('1m')
    .describe('Evaluation interval of the rules, which run in order'),
  delay: durationSchema('0s', '1h')
    .default('0s')
    .describe(
      'How far before the evaluation time rules query, for data that arrives late; `query_offset` in a rule file',
    ),
  limit: z
    .int()
    .min(0)
    .default(0)
    .describe('Maximum series of a rule; a rule with more fails and records nothing; 0 for no limit'),
  rules: z.array(RecordingRuleFields).min(1).max(maxRecordingRules),
});
export type RecordingGroupFields = z.output<typeof RecordingGroupFields>;

/** Returns the ID of a rule for its evaluation results. */
export const recordingRuleId = (groupId: string, index: number): string => `${groupId}/${index}`;
