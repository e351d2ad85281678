import { z } from 'zod';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import type { CollectionDefinition, Stored, TenantDocuments } from '../../../schemas/ports/documents.ts';
import type { Plan } from '../../../schemas/resources/plan.ts';
import { maxChecks, syntheticChecks } from '../../../schemas/resources/synthetic-check.ts';
import { syntheticHeartbeatTokens } from '../../../schemas/resources/synthetic-heartbeat-token.ts';
import { syntheticPictures } from '../../../schemas/resources/synthetic-picture.ts';
import { checkStates } from '../../../schemas/synthetic-runs.ts';
import { alertRuleOf } from '../../../subjects/synthetics/alert-rules.ts';
import { CheckFields, toStoredCheck } from '../../../subjects/synthetics/check.ts';
import { downtimeAt, readWindows } from '../../../subjects/synthetics/downtimes.ts';
import { nextDueTimes } from '../../../subjects/synthetics/heartbeat-times.ts';
import { readKnown } from '../../../subjects/synthetics/known.ts';
import { checkProblems } from '../../../subjects/synthetics/problems.ts';
import { monthProblem } from '../../../subjects/synthetics/runs-a-month.ts';
import type { CheckState } from '../../../subjects/synthetics/state.ts';
import { type CheckStatus, readCheckStatuses, readLastDue } from '../../../subjects/synthetics/stored-results.ts';
import type { Span } from '../../../subjects/synthetics/uptime.ts';
import { ApiError, invalidFields } from '../../errors.ts';
import { readingOf } from '../../kernel/reading.ts';
import { defineResource } from '../../resources/resource.ts';
import { equals } from '../../resources/resource-list.ts';
import { type ResourceContext, storedView } from '../../resources/resource-spec.ts';
import { syncManagedRules } from '../alerts/managed-rules.ts';
import { makeHeartbeatToken } from './heartbeat-token.ts';

const share = z.number().nullable();

const View = z.strictObject({
  ...CheckFields.shape,
  locations: z.array(z.string()).describe('Empty if its last location was deleted; it does not run then'),
  state: z
    .enum([...checkStates, 'maintenance'])
    .nullable()
    .describe('maintenance: in a planned downtime; null if it has not been evaluated yet, or is currently unavailable'),
  since: z.iso.datetime().nullable(),
  uptime: z
    .strictObject({ day: share, days30: share, days90: share })
    .nullable()
    .describe('Of the last 1, 30 and 90 days, without exclusions'),
  nextDueAt: z
    .array(z.iso.datetime())
    .nullable()
    .describe('The next five due times of a heartbeat, empty while it is disabled; null for other types'),
  tokenPrefix: z.string().nullable().describe('First characters of the heartbeat’s token; null: none'),
  token: z.string().optional().describe('Token for /beats/TOKEN; shown only once, when the heartbeat is created'),
  ...storedView,
});

type Document = CheckFields & Stored;

interface Shown {
  readonly state: CheckState | null;
  readonly since: string | null;
}

/** A planned downtime overrides the status of the check. */
const shownState = (known: CheckStatus | undefined, downtime: Span | undefined): Shown => {
  const since = (ms: number): string => new Date(ms).toISOString();
  if (downtime !== undefined) return { state: 'maintenance', since: since(downtime.fromMs) };
  return known === undefined ? { state: null, since: null } : { state: known.state, since: since(known.sinceMs) };
};

const nextTimes = 5;

/** Additional fields of heartbeats, by id */
const heartbeatsOf = async (documents: readonly Document[], { caller, ports }: ResourceContext) => {
  const heartbeatChecks = documents.filter(({ type }) => type === 'heartbeat');
  if (heartbeatChecks.length === 0) return new Map<string, { nextDueAt: string[]; tokenPrefix: string | null }>();
  const nowMs = ports.clock.now();
  const ids = heartbeatChecks.map(({ id }) => id);
  const [tokens, lastDue] = await Promise.all([
    ports.documents
      .of(caller.tenantId)
      .collection(syntheticHeartbeatTokens)
      .list({ filter: { id: { $in: ids } }, limit: ids.length }),
    readLastDue(readingOf(caller, ports), ids).catch((error: unknown) => {
      ports.log.warn({ error: String(error) }, 'when heartbeats last ran cannot be read');
      return new Map<string, number>();
    }),
  ]);
  const prefixes = new Map(tokens.items.map(({ id, prefix }) => [id, prefix]));
  return new Map(
    heartbeatChecks.map(({ id, enabled, every, heartbeat, createdAt }) => {
      const options = { baseMs: lastDue.get(id) ?? Date.parse(createdAt), nowMs, count: nextTimes };
      const times = enabled && heartbeat !== undefined ? nextDueTimes({ every, heartbeat }, options) : [];
      const nextDueAt = times.map((ms) => new Date(ms).toISOString());
      return [id, { nextDueAt, tokenPrefix: prefixes.get(id) ?? null }];
    }),
  );
};

const show = async (documents: readonly Document[], context: ResourceContext): Promise<z.input<typeof View>[]> => {
  const { caller, ports } = context;
  const nowMs = ports.clock.now();
  const ids = documents.map(({ id }) => id);
  const [statuses, windows, heartbeats] = await Promise.all([
    readCheckStatuses(readingOf(caller, ports), ids, nowMs).catch((error: unknown) => {
      ports.log.warn({ error: String(error) }, 'the state of checks cannot be read');
      return new Map<string, CheckStatus>();
    }),
    readWindows(ports.documents.of(caller.tenantId)),
    heartbeatsOf(documents, context),
  ]);
  const downtimeOf = downtimeAt(windows, nowMs);
  return documents.map((document) => {
    const known = statuses.get(document.id);
    const [day = null, days30 = null, days90 = null] = known?.uptime ?? [];
    return {
      ...document,
      ...shownState(known, document.enabled ? downtimeOf(document) : undefined),
      uptime: known === undefined ? null : { day, days30, days90 },
      ...(heartbeats.get(document.id) ?? { nextDueAt: null, tokenPrefix: null }),
    };
  });
};

const refuseManyRuns = async (
  own: TenantDocuments,
  { name, limits }: Plan,
  { after, before }: { readonly after: CheckFields; readonly before: Document | undefined },
): Promise<void> => {
  const maxRuns = limits.syntheticRunsPerMonth ?? null;
  if (maxRuns === null) return;
  const { items } = await own.collection(syntheticChecks).list({ limit: maxChecks });
  const others = items.filter(({ id }) => id !== before?.id);
  const problem = monthProblem(after, { before, others, maxRuns, plan: name });
  if (problem !== undefined) throw new ApiError('CONFLICT', problem);
};

export const checkResource = defineResource<typeof CheckFields, CheckFields, typeof View>({
  noun: 'synthetic check',
  path: '/api/synthetics/checks',
  collection: syntheticChecks as CollectionDefinition<object> as CollectionDefinition<CheckFields>,
  verbs: ['list', 'create', 'read', 'replace', 'patch', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: CheckFields,
  example: {
    name: 'Shop answers',
    description: 'The start page and its resources',
    type: 'http',
    every: '1m',
    http: {
      steps: [
        {
          url: 'https://shop.example.com/',
          assertions: [
            { source: 'status', operator: 'is', value: 200 },
            { source: 'duration', operator: 'lt', value: 2000, level: 'degrade' },
          ],
        },
      ],
    },
  },
  view: View,
  live: true,
  show,
  async prepare(given, { caller, of, before }) {
    const after = toStoredCheck(given);
    const own = of(caller.tenantId);
    const problems = checkProblems(after, await readKnown(own));
    if (problems.length > 0) throw invalidFields(problems);
    await refuseManyRuns(own, caller.plan, { after, before });
    return after;
  },
  created: async (documents, { id, type }) => (type === 'heartbeat' ? makeHeartbeatToken(documents, id) : {}),
  async alongside(documents, { before, after }) {
    const id = (after ?? before)?.id ?? '';
    await syncManagedRules(documents, { checkId: id }, after === undefined ? [] : [[id, alertRuleOf(id, after)]]);
    const hadPage = before !== undefined && before.type === 'browser' && after?.type !== 'browser';
    if (hadPage) await deleteMatching(documents.collection(syntheticPictures), { checkId: before.id });
    if (before?.type === 'heartbeat' && after?.type !== 'heartbeat')
      await deleteMatching(documents.collection(syntheticHeartbeatTokens), { id: before.id });
  },
  maxCount: maxChecks,
  list: { searched: ['name', 'description'], filters: { type: equals('type'), projectId: equals('projectId') } },
});
