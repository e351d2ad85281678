/** Groups of recording rules whose samples follow from their due times alone, and the samples that must have landed. */
import { nextDue, phaseOf, thingKey } from '../../processors/engine/schedule-times.ts';
import { openStates } from '../../runtime/states.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { recordingGroups } from '../../schemas/resources/recording-group.ts';
import { recordingRuleId } from '../../subjects/alerts/recording/group.ts';

/** The clock goes on so far at a time. */
export const stepMs = 5000;
const everyMs = 10_000;
const delayMs = 3000;

interface Thing {
  readonly tenantId: string;
  readonly id: string;
}

const things: readonly Thing[] = ['a', 'b'].flatMap((tenantId) =>
  [0, 1, 2].map((nth) => ({ tenantId, id: `group-${tenantId}-${nth}` })),
);

/** The last rule of each group: its evaluation tells that the group was evaluated. */
export const recordedRules = things.map((thing) => ({ things: thing, ruleId: recordingRuleId(thing.id, 2) }));

export const dueTimesOf = ({ tenantId, id }: Thing, afterMs: number, untilMs: number): number[] => {
  const phase = phaseOf(thingKey(tenantId, id));
  const dues: number[] = [];
  for (let due = nextDue(phase, everyMs, afterMs); due <= untilMs; due = nextDue(phase, everyMs, due)) dues.push(due);
  return dues;
};

/** Series that come and go. */
const isThere = (atMs: number): boolean => Math.floor(atMs / 1000 / 20) % 2 === 0;

/** `tenant series time value` of every sample, sorted. */
export const expectedSamples = (fromMs: number, untilMs: number): string[] =>
  things
    .flatMap((thing) => {
      const { tenantId, id } = thing;
      let wasThere = false;
      return dueTimesOf(thing, fromMs, untilMs).flatMap((due) => {
        const atMs = due - delayMs;
        const there = isThere(atMs);
        const flap = there ? '1' : wasThere ? 'stale' : undefined;
        wasThere = there;
        const rows: (readonly [name: string, value: string | undefined])[] = [
          ['made:now', String(atMs / 1000)],
          ['made:double', String((atMs / 1000) * 2)],
          ['made:flap', flap],
        ];
        return rows.flatMap(([name, value]) =>
          value === undefined ? [] : [`${tenantId} ${name} ${id} ${atMs} ${value}`],
        );
      });
    })
    .toSorted();

/** The same, as they landed. */
export const landedSamples = async (columns: Columns): Promise<string[]> => {
  const rows = await columns.query<{ row: string }>(
    `SELECT concat(tenant_id, ' ', metric, ' ', any_group, ' ', toString(toUnixTimestamp64Milli(timestamp)), ' ',
      if(flags = 1, 'stale', toString(value))) AS row
    FROM samples INNER JOIN (SELECT tenant_id, series_id, any(attributes['group']) AS any_group FROM series GROUP BY tenant_id, series_id) AS labels
      ON samples.tenant_id = labels.tenant_id AND samples.series_id = labels.series_id`,
  );
  return rows.map(({ row }) => row).toSorted();
};

/** Stores the groups. They are due after the answer. */
export const prepareRecording = async (documents: Documents): Promise<number> => {
  const fromMs = Math.ceil((Date.now() + 60_000) / 60_000) * 60_000;
  await documents.ensureCollections([recordingGroups, organizations, plans, processorStates, processorStateChunks]);
  const { enterprise } = defaultPlans;
  if (enterprise === undefined) throw new Error('the default plans changed');
  const plan = await documents.of(plansTenant).collection(plans).insert(enterprise);
  for (const id of new Set(things.map(({ tenantId }) => tenantId)))
    await documents
      .of(organizationsTenant)
      .collection(organizations)
      .insert({ id, name: id, planId: plan.id, retentionDays: {}, shards: 1, disabled: false });
  for (const { tenantId, id } of things) {
    const labels = { group: id };
    await documents
      .of(tenantId)
      .collection(recordingGroups)
      .insert({
        ...{ id, name: id, file: '', enabled: true, interval: `${everyMs}ms`, delay: `${delayMs}ms`, limit: 0 },
        rules: [
          { record: 'made:now', expression: 'vector(time())', labels },
          { record: 'made:double', expression: `made:now{group="${id}"} * 2`, labels },
          { record: 'made:flap', expression: 'vector(1) and on () (floor(vector(time() / 20)) % 2 == 0)', labels },
        ],
      });
  }
  const states = openStates({ documents, clock: systemClock });
  await states.save('schedules/recording-rules/since', Buffer.from(String(fromMs)), undefined);
  return fromMs;
};
