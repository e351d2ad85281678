/** Groups of recording rules and alerts whose samples depend only on due times, and the expected samples. */
import '../../subjects/query-kinds.ts';
import { batchMs } from '../../processors/alerts/alert-evaluation.ts';
import { computePhase, computeSharedPhase, getNextDueMs, toItemKey } from '../../processors/engine/schedule-times.ts';
import { openStates } from '../../runtime/states.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { recordingGroups } from '../../schemas/resources/recording-group.ts';
import { recordingRuleId } from '../../subjects/alerts/recording/group.ts';
import { ruleOf } from '../cases/alert-evaluation.ts';

/** The clock advances in steps of this length. */
export const stepMs = 5000;
const everyMs = 10_000;
const delayMs = 3000;

interface RuleSource {
  readonly tenantId: string;
  readonly id: string;
}

const groupSources: readonly RuleSource[] = ['a', 'b'].flatMap((tenantId) =>
  [0, 1, 2].map((nth) => ({ tenantId, id: `group-${tenantId}-${nth}` })),
);

const alerts: readonly RuleSource[] = ['a', 'b'].map((tenantId) => ({ tenantId, id: `alert-${tenantId}` }));
const isAlert = (source: RuleSource): boolean => alerts.some(({ id }) => id === source.id);

/** Groups and alert rules, each with the rule evaluated last. */
export const evaluatedSources = [
  ...groupSources.map((source) => ({ source, ruleId: recordingRuleId(source.id, 2) })),
  ...alerts.map((source) => ({ source, ruleId: source.id })),
];

export const dueTimesOf = (source: RuleSource, afterMs: number, untilMs: number): number[] => {
  const { tenantId } = source;
  const key = toItemKey(tenantId, source.id);
  const phase = isAlert(source) ? computeSharedPhase(tenantId, key, { everyMs, batchMs }) : computePhase(key);
  const dues: number[] = [];
  for (let due = getNextDueMs(phase, everyMs, afterMs); due <= untilMs; due = getNextDueMs(phase, everyMs, due))
    dues.push(due);
  return dues;
};

/** Series that appear and disappear. */
const seriesExists = (atMs: number): boolean => Math.floor(atMs / 1000 / 20) % 2 === 0;

const flapping = 'vector(1) and on () (floor(vector(time() / 20)) % 2 == 0)';

/** Samples of an alert, which fires while its series exists. */
const alertSamples = (source: RuleSource, fromMs: number, untilMs: number): string[] => {
  const { tenantId, id } = source;
  let since: number | undefined;
  return dueTimesOf(source, fromMs, untilMs).flatMap((due) => {
    const atMs = due - delayMs;
    const before = since;
    since = seriesExists(atMs) ? (since ?? Math.floor(due / 1000)) : undefined;
    if ((since ?? before) === undefined) return [];
    return [
      `${tenantId} ALERTS ${id} ${atMs} ${since === undefined ? 'stale' : 1}`,
      `${tenantId} ALERTS_FOR_STATE ${id} ${atMs} ${since ?? 'stale'}`,
    ];
  });
};

/** `tenant series time value` of every sample, sorted. */
export const expectedSamples = (fromMs: number, untilMs: number): string[] =>
  [
    ...alerts.flatMap((source) => alertSamples(source, fromMs, untilMs)),
    ...recordedSamplesOf(fromMs, untilMs),
  ].toSorted();

const recordedSamplesOf = (fromMs: number, untilMs: number): string[] =>
  groupSources.flatMap((source) => {
    const { tenantId, id } = source;
    let hadSeries = false;
    return dueTimesOf(source, fromMs, untilMs).flatMap((due) => {
      const atMs = due - delayMs;
      const hasSeries = seriesExists(atMs);
      const flap = hasSeries ? '1' : hadSeries ? 'stale' : undefined;
      hadSeries = hasSeries;
      const rows: (readonly [name: string, value: string | undefined])[] = [
        ['made:now', String(atMs / 1000)],
        ['made:double', String((atMs / 1000) * 2)],
        ['made:flap', flap],
      ];
      return rows.flatMap(([name, value]) =>
        value === undefined ? [] : [`${tenantId} ${name} ${id} ${atMs} ${value}`],
      );
    });
  });

/** The stored samples in the same form. */
export const landedSamples = async (columns: Columns): Promise<string[]> => {
  const rows = await columns.query<{ row: string }>(
    `SELECT concat(tenant_id, ' ', metric, ' ', any_group, ' ', toString(toUnixTimestamp64Milli(timestamp)), ' ',
      if(flags = 1, 'stale', toString(value))) AS row
    FROM samples INNER JOIN (SELECT tenant_id, series_id, any(attributes['group']) AS any_group FROM series GROUP BY tenant_id, series_id) AS labels
      ON samples.tenant_id = labels.tenant_id AND samples.series_id = labels.series_id`,
  );
  return rows.map(({ row }) => row).toSorted();
};

/** Stores the groups. Returns the time after which they are due. */
export const prepareRecording = async (documents: Documents): Promise<number> => {
  const fromMs = Math.ceil((Date.now() + 60_000) / 60_000) * 60_000;
  await documents.ensureCollections([
    alertRules,
    recordingGroups,
    organizations,
    plans,
    processorStates,
    processorStateChunks,
  ]);
  const { enterprise } = defaultPlans;
  if (enterprise === undefined) throw new Error('the default plans changed');
  const plan = await documents.forTenant(plansTenant).collection(plans).insert(enterprise);
  for (const id of new Set(groupSources.map(({ tenantId }) => tenantId)))
    await documents
      .forTenant(organizationsTenant)
      .collection(organizations)
      .insert({ id, name: id, planId: plan.id, retentionDays: {}, shards: 1, disabled: false });
  for (const { tenantId, id } of groupSources) {
    const labels = { group: id };
    await documents
      .forTenant(tenantId)
      .collection(recordingGroups)
      .insert({
        id,
        name: id,
        file: '',
        enabled: true,
        interval: `${everyMs}ms`,
        delay: `${delayMs}ms`,
        limit: 0,
        rules: [
          { record: 'made:now', expression: 'vector(time())', labels },
          { record: 'made:double', expression: `made:now{group="${id}"} * 2`, labels },
          { record: 'made:flap', expression: flapping, labels },
        ],
      });
  }
  for (const { tenantId, id } of alerts) {
    const {
      id: _,
      version: __,
      ...fields
    } = ruleOf({
      name: id,
      interval: `${everyMs}ms`,
      delay: `${delayMs}ms`,
      labels: { group: id },
      condition: {
        query: { kind: 'promql', expression: flapping },
        thresholds: [{ severity: 'warning', operator: 'any' }],
      },
    });
    await documents
      .forTenant(tenantId)
      .collection(alertRules)
      .insert({ id, ...fields, queryVersion: 1 });
  }
  const states = openStates({ documents, clock: systemClock });
  for (const schedule of ['recording-rules', 'alert-evaluation'])
    await states.save(`schedules/${schedule}/since`, Buffer.from(String(fromMs)), undefined);
  return fromMs;
};
