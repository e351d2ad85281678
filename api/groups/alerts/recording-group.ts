import { z } from 'zod';
import type { CollectionDefinition, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type RecordingGroup, recordingGroups } from '../../../schemas/resources/recording-group.ts';
import { type ActiveAlert, readRuleStates } from '../../../subjects/alerts/history.ts';
import { RecordingGroupFields, recordingRuleId } from '../../../subjects/alerts/recording/group.ts';
import { findGroupProblems } from '../../../subjects/alerts/recording/problems.ts';
import { createFieldErrors } from '../../errors.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { type ResourceContext, storedView } from '../../resources/resource-spec.ts';
import { Staleness, toIsoTime, toStalenessView } from './views.ts';

/** Maximum number per organization */
const maxGroups = 1000;

const Status = z.strictObject({
  record: z.string(),
  evaluatedAt: z.string().nullable().describe('null if it has not been evaluated yet'),
  ...Staleness.shape,
  error: z.string().nullable().describe('Why its last evaluation failed; null if it succeeded'),
  series: z.int().describe('Number of series in its last evaluation'),
  durationMs: z.number(),
});

const View = z.strictObject({
  ...RecordingGroupFields.shape,
  status: z
    .array(Status)
    .nullable()
    .describe('Status of each rule after its last evaluation; null if currently unavailable'),
  ...storedView,
});

const toStatuses = (
  group: RecordingGroup & StoredMetadata,
  states: ReadonlyMap<string, ActiveAlert>,
  nowMs: number,
): z.input<typeof Status>[] =>
  group.rules.map(({ record }, index) => {
    const ruleState = states.get(recordingRuleId(group.id, index));
    return {
      record,
      evaluatedAt: toIsoTime(ruleState?.evaluatedMs),
      error: ruleState?.error || null,
      ...toStalenessView(group, ruleState?.evaluatedMs ?? 0, nowMs),
      series: ruleState?.groups ?? 0,
      durationMs: ruleState?.durationMs ?? 0,
    };
  });

const toViews = async (
  documents: readonly (RecordingGroup & StoredMetadata)[],
  { caller, ports }: ResourceContext,
): Promise<z.input<typeof View>[]> => {
  const ids = documents.flatMap(({ id, rules }) => rules.map((_, index) => recordingRuleId(id, index)));
  const states = await readRuleStates(createQueryReader(caller, ports), ids).catch((error: unknown) => {
    ports.log.warn({ error: String(error) }, 'the state of recording rules cannot be read');
    return undefined;
  });
  return documents.map((group) => {
    const { id, version, createdAt, updatedAt, ...document } = group;
    return {
      ...RecordingGroupFields.parse(document),
      id,
      version,
      createdAt,
      updatedAt,
      status: states === undefined ? null : toStatuses(group, states, ports.clock.now()),
    };
  });
};

/** Groups of recording rules. */
export const recordingGroupResource = defineResource<
  typeof RecordingGroupFields,
  z.output<typeof RecordingGroupFields>,
  typeof View
>({
  noun: 'recording group',
  path: '/api/alerts/recording-groups',
  collection: recordingGroups as CollectionDefinition<object> as CollectionDefinition<
    z.output<typeof RecordingGroupFields>
  >,
  verbs: ['list', 'create', 'read', 'replace', 'patch', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  entitlement: 'metrics',
  fields: RecordingGroupFields,
  example: {
    name: 'Requests by service',
    rules: [{ record: 'job:requests:rate5m', expression: 'sum by (job) (rate(requests_total[5m]))' }],
  },
  view: View,
  live: true,
  maxCount: maxGroups,
  prepare(after) {
    const problems = findGroupProblems(after);
    if (problems.length > 0) throw createFieldErrors(problems);
    return after;
  },
  show: toViews,
  list: { searched: ['name', 'file'], filters: { file: createEqualsFilter('file') } },
});
