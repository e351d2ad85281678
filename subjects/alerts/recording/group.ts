/** What a group of recording rules says: one declared type for the API, rule files and evaluation. */
import { z } from 'zod';
import { PromqlQuery } from '../../../queries/query.ts';
import { duration, minInterval } from '../durations.ts';

/** Rules of one group. */
const maxRecordingRules = 500;

const name = z.string().min(1).max(256);
const labelName = name.refine((text) => text !== '__name__', 'is the name of the series: say it as `record`');

const RecordingRuleFields = z.strictObject({
  record: name.describe('Name of the series that it makes'),
  expression: PromqlQuery.shape.expression.describe('PromQL that gives a vector or a number'),
  labels: z
    .record(labelName, z.string().max(2048))
    .default({})
    .describe("Labels of its series, over the expression's; one without a value takes the label away"),
  place: z.int().min(0).optional().describe('Its place in the group of the file, between alert rules'),
});

/** What callers write of a group. */
export const RecordingGroupFields = z.strictObject({
  name: z.string().min(1).max(256).describe('Unique within its file'),
  file: z
    .string()
    .max(256)
    .default('')
    .describe('The rule file that it came from: importing it again replaces the group'),
  enabled: z.boolean().default(true).describe('One that is not records nothing; its series end'),
  interval: duration(minInterval, '1d').default('1m').describe('How often its rules are evaluated, in their order'),
  delay: duration('0s', '1h')
    .default('0s')
    .describe('How far before their evaluation rules look, for data that arrives late: `query_offset` of a rule file'),
  limit: z.int().min(0).default(0).describe('A rule that gives more series fails and records nothing; 0 for no limit'),
  rules: z.array(RecordingRuleFields).min(1).max(maxRecordingRules),
});
export type RecordingGroupFields = z.output<typeof RecordingGroupFields>;

/** The id under which what became of a rule is told. */
export const recordingRuleId = (groupId: string, index: number): string => `${groupId}/${index}`;
