import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { threatTriages } from '../../../schemas/resources/security-triage.ts';
import { threatSources } from '../../../schemas/runtime-threats.ts';
import { signalSeverities } from '../../../schemas/signals.ts';
import { type Nearby, readNearby } from '../../../subjects/runtime-threats/nearby.ts';
import { readThreatGroups, type StoredThreatGroup } from '../../../subjects/runtime-threats/stored-threats.ts';
import { readTriages, type StoredTriage } from '../../../subjects/security/stored-triages.ts';
import { applyTriage } from '../../../subjects/security/triage.ts';
import { Deployment } from '../../../subjects/services/deployments.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import {
  findingsParameters,
  getFindingsPage,
  getRetainedRange,
  parseFindingsPage,
  parseFindingsRange,
} from './lists.ts';
import { changeTriage, isInState, stateParameter, TriageBody, toTriageView, triageView } from './triage.ts';

const ThreatView = z.strictObject({
  id: z.string(),
  source: z.enum(threatSources),
  rule: z.string(),
  severity: z.enum(signalSeverities).describe('Of the latest event'),
  workload: z.string().describe('Kubernetes owner, image or host'),
  namespace: z.string(),
  image: z.string(),
  program: z.string(),
  target: z.string().describe('File or address, without its changing parts'),
  projectId: z.string(),
  count: z.int(),
  firstTime: z.string(),
  lastTime: z.string(),
  hosts: z.array(z.string()).describe('At most 20'),
  hostCount: z.int(),
  pods: z.array(z.string()).describe('At most 20'),
  services: z
    .array(z.string())
    .describe('Services that reported the events, or run in the pods or the image; at most 20'),
  deployments: z
    .array(Deployment.pick({ id: true, service: true, version: true, time: true, isRollback: true, link: true }))
    .describe('Deployments of the services within an hour of the first or latest event; the newest five'),
  techniques: z.array(z.string()).describe('ATT&CK techniques'),
  events: z
    .array(
      z.strictObject({
        time: z.string(),
        recordId: z.string().describe('Id for `GET /api/logs/{id}`'),
        message: z.string(),
        commandLine: z.string(),
        target: z.string(),
        user: z.string(),
        host: z.string(),
        action: z.string(),
      }),
    )
    .describe('The latest five'),
  ...triageView,
});
type ThreatView = z.input<typeof ThreatView>;

const toIso = (ms: string): string => new Date(Number(ms)).toISOString();
const withoutEmpty = (texts: readonly string[]): string[] => texts.filter((text) => text !== '').sort();

interface ViewContext {
  readonly triage: StoredTriage | undefined;
  readonly nowMs: number;
  readonly nearby: Nearby | undefined;
}

const toView = (group: StoredThreatGroup, { triage, nowMs, nearby }: ViewContext): ThreatView => {
  const [source, rule, severity, workload, namespace, image, program, target] = group.latest;
  return {
    id: group.id,
    source,
    rule,
    severity,
    workload,
    namespace,
    image,
    program,
    target,
    projectId: group.project,
    count: Number(group.total),
    firstTime: toIso(group.first_ms),
    lastTime: toIso(group.last_ms),
    hosts: withoutEmpty(group.hosts),
    hostCount: Number(group.host_count),
    pods: withoutEmpty(group.pods),
    services: withoutEmpty(nearby?.services ?? group.services),
    deployments: (nearby?.deployments ?? []).map(({ id, service, version, time, isRollback, link }) => ({
      id,
      service,
      version,
      time,
      isRollback,
      link,
    })),
    techniques: [...group.all_techniques],
    events: group.latest_events.map(([ms, recordId, message, commandLine, eventTarget, user, host, action]) => ({
      time: toIso(ms),
      recordId,
      message,
      commandLine,
      target: eventTarget,
      user,
      host,
      action,
    })),
    ...toTriageView(triage, Number(group.last_ms), nowMs),
  };
};

export const listThreats = defineOperation({
  method: 'GET',
  path: '/api/security/threats',
  operationId: 'listThreats',
  summary: 'List groups of events of runtime security sensors, the one with the latest event first',
  role: 'viewer',
  query: z.strictObject({
    ...findingsParameters,
    ...projectScopeParameters,
    source: z.enum(threatSources).optional(),
    rule: z.string().max(1_024).optional(),
    workload: z.string().max(1_024).optional(),
    host: z.string().max(512).optional(),
    severity: z.enum(signalSeverities).optional(),
    state: stateParameter,
  }),
  response: z.strictObject({ items: z.array(ThreatView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { range, after } = parseFindingsPage('threats', query, reader);
    const [groups, triages] = await Promise.all([
      readThreatGroups(reader, query, range),
      readTriages(ports.documents.forTenant(caller.tenantId), threatTriages),
    ]);
    const views = groups
      .map((group) => toView(group, { triage: triages.get(group.id), nowMs: reader.nowMs, nearby: undefined }))
      .filter(
        (view) => isInState(view, query.state) && (query.severity === undefined || view.severity === query.severity),
      );
    const { limit } = query;
    const page = getFindingsPage('threats', views, { range, after, limit, getSortValue: ({ lastTime }) => lastTime });
    const ids = new Set(page.items.map(({ id }) => id));
    const shown = groups.filter(({ id }) => ids.has(id));
    const nearbyById = await readNearby(reader, shown, query);
    const items = shown.map((group) =>
      toView(group, { triage: triages.get(group.id), nowMs: reader.nowMs, nearby: nearbyById.get(group.id) }),
    );
    return { ...page, items };
  },
});

export const triageThreat = defineOperation({
  method: 'PATCH',
  path: '/api/security/threats/{id}',
  operationId: 'triageThreat',
  summary: 'Resolve, ignore, accept, reopen or assign a group of events, or preview what a decision would have hidden',
  role: 'editor',
  audit: 'threat.triage',
  versions: 'write',
  params: idParameter,
  query: z.strictObject({
    dryRun: z.enum(['true', 'false']).optional().describe('true: nothing is written; the response has a preview'),
  }),
  body: TriageBody,
  response: z.strictObject({
    ...ThreatView.shape,
    preview: z
      .strictObject({
        from: z.string(),
        to: z.string(),
        events: z.int().describe('Events that the decision would have hidden'),
        hosts: z.int(),
      })
      .nullable()
      .describe('Of the last seven days; null without `dryRun`'),
  }),
  async handler({ caller, params, body, query, request, change }, ports) {
    const reader = createQueryReader(caller, ports);
    const [group] = await readThreatGroups(reader, { id: params.id }, getRetainedRange(reader));
    if (group === undefined) throw createNotFoundError('threat');
    const { nowMs } = reader;
    const nearby = (await readNearby(reader, [group], { scope: 'account' })).get(group.id);
    if (query.dryRun === 'true') {
      const range = parseFindingsRange({}, reader);
      const [recent] = await readThreatGroups(reader, { id: params.id }, range);
      const { state } = applyTriage(undefined, body, new Date(nowMs).toISOString());
      const isHidden = state !== 'open';
      return {
        ...toView(group, { triage: undefined, nowMs, nearby }),
        preview: {
          from: toIso(String(range.from / 1_000_000n)),
          to: toIso(String(range.to / 1_000_000n)),
          events: isHidden ? Number(recent?.total ?? 0) : 0,
          hosts: isHidden ? Number(recent?.host_count ?? 0) : 0,
        },
      };
    }
    const triage = await change((scope) =>
      changeTriage(scope, {
        caller,
        request,
        body,
        collection: threatTriages,
        id: group.id,
        name: group.latest[1],
        noun: 'threat',
        nowMs,
      }),
    );
    return { ...toView(group, { triage, nowMs, nearby }), preview: null };
  },
});
