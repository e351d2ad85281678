/** Alert rules, the log records that they read during a time range, and the expected results. */
import '../../subjects/query-kinds.ts';
import { batchMs } from '../../processors/alerts/alert-evaluation.ts';
import { computeSharedPhase, getNextDueMs, toItemKey } from '../../processors/engine/schedule-times.ts';
import { openStates } from '../../runtime/states.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Documents, StoredMetadata } from '../../schemas/ports/documents.ts';
import { alertRules, type StoredAlertRule } from '../../schemas/resources/alert-rule.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { type Evaluation, evaluate } from '../../subjects/alerts/evaluate.ts';
import { type AlertRule, getWindowMs, parseStoredRule } from '../../subjects/alerts/rule.ts';
import type { GroupQueryResult } from '../../subjects/alerts/rule-query-result.ts';
import { emptyState, type RuleState } from '../../subjects/alerts/state.ts';
import { ruleOf } from '../cases/alert-evaluation.ts';
import { seeded } from '../cases/random.ts';

/** The interval between due times of rules, and between bursts of records. */
export const stepMs = 5000;
const intervalMs = 10_000;

/** The due times of a rule in a time range. The start is exclusive, the end inclusive. */
export const duesOf = (
  { tenantId, id }: Pick<StoredRule, 'tenantId' | 'id'>,
  afterMs: number,
  untilMs: number,
): number[] => {
  const phase = computeSharedPhase(tenantId, toItemKey(tenantId, id), { everyMs: intervalMs, batchMs });
  const dues: number[] = [];
  for (let due = getNextDueMs(phase, intervalMs, afterMs); due <= untilMs; due = getNextDueMs(phase, intervalMs, due))
    dues.push(due);
  return dues;
};

export interface StoredRule extends StoredAlertRule, StoredMetadata {
  readonly tenantId: string;
}

interface Burst {
  readonly tenantId: string;
  readonly service: string;
  readonly atMs: number;
  readonly records: number;
}

const tenants = ['a', 'b'];
const services = ['cart', 'mail', 'search', 'login'];
/** The state of a rule with all these groups is too large for one document. */
const many = Array.from({ length: 60 }, (_, index) => {
  const random = seeded(index);
  return `many-${Array.from({ length: 1800 }, () => random(36).toString(36)).join('')}`;
});

const counted = (groupBy: readonly string[], search = services.map((name) => `service:${name}`).join(' OR ')) => ({
  kind: 'aggregate',
  signal: 'logs',
  search,
  groupBy,
  measures: [{ function: 'count' }],
});
const above = (value: number, more: object = {}) => ({ severity: 'critical', operator: 'above', value, ...more });

/** One rule of each kind that has transitions of its own. */
const kinds: readonly object[] = [
  { condition: { window: '10s', query: counted(['service']), thresholds: [above(6)] } },
  { condition: { window: '20s', query: counted(['service']), thresholds: [above(8)] }, for: '10s' },
  { condition: { window: '10s', query: counted(['service']), thresholds: [above(7)] }, keepFiringFor: '20s' },
  { condition: { window: '20s', query: counted(['service']), thresholds: [above(12, { recovery: 6 })] } },
  {
    condition: {
      window: '10s',
      query: counted(['service']),
      thresholds: [{ severity: 'warning', operator: 'above', value: 3 }, above(9)],
    },
  },
  { condition: { window: '5s', query: counted(['service']), thresholds: [above(4)] }, noData: 'resolve' },
  { condition: { window: '5s', query: counted(['service']), thresholds: [above(4)] }, noData: 'unknown' },
  { condition: { window: '5s', query: counted(['service']), thresholds: [above(4)] }, noData: 'alert' },
  { condition: { window: '10s', query: counted([]), thresholds: [above(20)] }, for: '10s', keepFiringFor: '10s' },
  { condition: { window: '10s', query: counted([]), thresholds: [{ ...above(12), operator: 'below' }] } },
  { condition: { window: '5s', query: counted([], 'service:cart'), kind: 'absence' } },
  { condition: { window: '15s', query: counted([], 'service:mail'), thresholds: [above(8)] }, delay: '10s' },
];
const ofMany = { condition: { window: '10s', query: counted(['service'], 'service:many*'), thresholds: [above(1)] } };

const burstsOf = (fromMs: number, untilMs: number): Burst[] => {
  const random = seeded(7);
  const bursts: Burst[] = [];
  for (let atMs = fromMs - 30_000; atMs < untilMs; atMs += stepMs)
    for (const tenantId of tenants) {
      for (const service of services)
        bursts.push({ tenantId, service, atMs: atMs + 1000, records: Math.max(0, random(12) - 3) });
      const each = random(3);
      if (tenantId === 'a')
        for (const service of many) bursts.push({ tenantId, service, atMs: atMs + 1000, records: each });
    }
  return bursts.filter(({ records }) => records > 0);
};

const landed = (bursts: readonly Burst[]): string => `
  INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
  SELECT burst.1, 'default', fromUnixTimestamp64Milli(burst.3), 0, number, record, fromUnixTimestamp64Nano(burst.3 * 1000000), fromUnixTimestamp64Nano(burst.3 * 1000000), burst.2, 17, 'ERROR', 'failed', 's'
  FROM (
    SELECT rowNumberInAllBlocks() AS number, arrayJoin([${bursts.map(({ tenantId, service, atMs, records }) => `('${tenantId}', '${service}', toInt64(${atMs}), ${records})`).join(',')}]::Array(Tuple(String, String, Int64, UInt32))) AS burst
  ) ARRAY JOIN range(burst.4) AS record`;

export interface Script {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly rules: readonly StoredRule[];
  /** Returns the expected evaluations of a rule at its due times, in order. */
  evaluations(rule: StoredRule, dues: readonly number[]): Evaluation[];
}

const countGroups = (groups: readonly string[], bursts: readonly Burst[]): GroupQueryResult[] => {
  if (groups.length === 0)
    return [
      { labels: {}, points: [bursts.reduce((sum, { records }) => sum + records, 0)], isCount: true, eventCount: 0 },
    ];
  const counts = new Map<string, number>();
  for (const { service, records } of bursts) counts.set(service, (counts.get(service) ?? 0) + records);
  return [...counts].map(([service, count]) => ({ labels: { service }, points: [count], isCount: true }));
};

const isAbout = (search: string, service: string): boolean =>
  search
    .split(' OR ')
    .some((term) => (term.endsWith('*') ? service.startsWith('many') : term === `service:${service}`));

/** Runs the evaluator over results that are counted here, without a query. */
const evaluated = (stored: StoredRule, bursts: readonly Burst[], dues: readonly number[]): Evaluation[] => {
  const { tenantId } = stored;
  const rule = parseStoredRule(stored) as AlertRule;
  const { query } = rule.condition as unknown as { query: { search: string; groupBy: readonly string[] } };
  const own = bursts.filter((burst) => burst.tenantId === tenantId && isAbout(query.search, burst.service));
  let prior: RuleState = emptyState();
  return dues.map((nowMs) => {
    const endMs = nowMs - (rule.delay === '10s' ? 10_000 : 0);
    const read = own.filter(({ atMs }) => atMs >= endMs - getWindowMs(rule) && atMs < endMs);
    const result = { kind: 'groups', unit: '', groups: countGroups(query.groupBy, read) } as const;
    const evaluation = evaluate({ tenantId, rule, prior, result, nowMs });
    prior = JSON.parse(JSON.stringify(evaluation.state));
    return evaluation;
  });
};

/** Stores rules of two tenants, and the records that they read. The time range begins in the future. */
export const prepareScript = async (
  { documents, columns }: { readonly documents: Documents; readonly columns: Columns },
  lengthMs: number,
): Promise<Script> => {
  const fromMs = Math.ceil((Date.now() + 60_000) / 60_000) * 60_000;
  const untilMs = fromMs + lengthMs;
  await documents.ensureCollections([alertRules, organizations, plans, processorStates, processorStateChunks]);
  const { enterprise } = defaultPlans;
  if (enterprise === undefined) throw new Error('the default plans changed');
  const plan = await documents
    .forTenant(plansTenant)
    .collection(plans)
    .insert({ ...enterprise });
  const rules: StoredRule[] = [];
  for (const tenantId of tenants) {
    const organization = { name: tenantId, planId: plan.id, retentionDays: {}, shards: 1, disabled: false };
    await documents
      .forTenant(organizationsTenant)
      .collection(organizations)
      .insert({ id: tenantId, ...organization });
    for (const [index, kind] of (tenantId === 'a' ? [...kinds, ofMany] : kinds).entries()) {
      const { id: _, version: __, ...fields } = ruleOf({ name: `rule ${index}`, interval: `${intervalMs}ms`, ...kind });
      const stored = { id: `rule-${tenantId}-${index}`, ...fields, queryVersion: 1 };
      rules.push({ ...(await documents.forTenant(tenantId).collection(alertRules).insert(stored)), tenantId });
    }
  }
  // Otherwise the evaluation would start at the time of its first run in the first process.
  const states = openStates({ documents, clock: systemClock });
  await states.save('schedules/alert-evaluation/since', Buffer.from(String(fromMs)), undefined);
  const bursts = burstsOf(fromMs, untilMs);
  await columns.execute(landed(bursts));
  return { fromMs, untilMs, rules, evaluations: (rule, dues) => evaluated(rule, bursts, dues) };
};
