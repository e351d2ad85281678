/** Items in a range that need attention, several of each kind. Each item references the query that shows it. */
import { z } from 'zod';
import { findRangeProblem } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { alertSeverities } from '../../schemas/alerts.ts';
import type { Incident as StoredIncident } from '../../schemas/resources/incident.ts';
import { type ActivePlatformAlert, platformRuleId } from '../alerts/platform-alerts.ts';
import { describeSeries } from '../anomalies/anomaly-event.ts';
import { readOpenAnomalies } from '../anomalies/read-anomalies.ts';
import { describeAnomaly } from '../anomalies/scores/anomaly-text.ts';
import { type ErrorGroup, readErrorGroups } from '../errors/groups.ts';
import type { ErrorDecisions } from '../errors/merges.ts';
import { readDisks } from '../infrastructure/disks.ts';
import { readHosts } from '../infrastructure/hosts.ts';
import { countPatterns, judgePattern } from '../log-patterns/patterns.ts';
import { buildActivityFilter } from '../services/activity-filter.ts';
import { readSlowerServices, readWorseDeployments } from '../services/regressions.ts';
import type { OverviewQuery } from './counters.ts';
import { hasGrownSignificantly } from './growth.ts';
import {
  type FindManagedRules,
  type ManagedAlert,
  readBurningObjectives,
  readFailingChecks,
} from './managed-alerts.ts';

const searchedKinds = [
  'service-errors',
  'slow-service',
  'deployment',
  'new-error',
  'silent-host',
  'full-disk',
  'log-pattern',
  'slo-burning',
  'check-failing',
  'anomaly',
] as const;
type SearchedKind = (typeof searchedKinds)[number];
const kinds = ['platform', 'incident', 'detector', ...searchedKinds] as const;

const Item = z.strictObject({
  kind: z
    .enum(kinds)
    .describe(
      '`platform`: a current alert of the platform about itself; `incident`: an open incident, unacknowledged ones first; `service-errors`: a significantly larger share of requests fails than in the previous range; `slow-service`: a significantly larger share of requests is slow than in the previous range; `deployment`: one of the 10 newest deployments of the range after which requests are worse; `new-error`: a group first seen in the range; `silent-host`: a host that stopped sending data; `full-disk`: at least 90% of a disk is used; `log-pattern`: far more records than in the same hour of other days; `slo-burning`: an SLO that consumes its error budget too fast, by the current state of its alerts; `check-failing`: a synthetic check that is down or degraded, or fails in one location, by the current state of its alerts; `anomaly`: an open anomaly of a detector; `detector`: a detector that cannot score its series, or scores them too late',
    ),
  name: z.string(),
  reason: z.string(),
  value: z.number().nullable().describe('Value by which items of a kind are sorted, the worst first'),
  unit: z.string().describe('UCUM unit'),
  detail: z.string().describe('Query that shows the item'),
});
type Item = z.output<typeof Item>;

export const Attention = z.strictObject({
  items: z.array(Item).describe('At most 5 items of each kind'),
  unknown: z
    .array(z.strictObject({ kind: z.enum(searchedKinds), reason: z.string() }))
    .describe('Kinds that could not be evaluated'),
});
export type Attention = z.output<typeof Attention>;

export interface AttentionQuery extends OverviewQuery {
  readonly previousMinutes: OverviewQuery['minutes'];
  readonly decisions: ErrorDecisions;
  readonly platformAlerts: readonly ActivePlatformAlert[];
  /** Open incidents */
  readonly incidents: readonly Incident[];
  readonly managedRules: FindManagedRules;
  /** Detectors that are late or have failed */
  readonly detectors: readonly Detector[];
}

const maxPerKind = 5;
const maxGroups = 200;
const maxDeployments = 10;
const minFullDiskShare = 0.9;
const formatPercent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

const buildDetailPath = (path: string, { minutes, projectId, scope }: OverviewQuery): string => {
  const range = [`from=${minutes.from / 1_000_000n}`, `to=${minutes.to / 1_000_000n - 1n}`];
  const scopeParameter =
    projectId === undefined || scope === 'account' ? 'scope=account' : `projectId=${encodeURIComponent(projectId)}`;
  return `${path}${path.includes('?') ? '&' : '?'}${[...range, scopeParameter].join('&')}`;
};

const findServiceErrors = async ({ columns }: TenantReader, query: AttentionQuery): Promise<Item[]> => {
  const read = async (minutes: OverviewQuery['minutes']) => {
    const { where, parameters } = buildActivityFilter({ ...query, minutes });
    const rows = await columns.query<{ service: string; all: string; failed: string }>(
      `SELECT service, toString(sum(requests)) AS all, toString(sum(errors)) AS failed FROM resource_activity
      WHERE ${where} AND service != '' GROUP BY service HAVING sum(requests) > 0 ORDER BY sum(errors) DESC LIMIT 1000`,
      parameters,
    );
    return new Map(rows.map(({ service, all, failed }) => [service, { all: Number(all), failed: Number(failed) }]));
  };
  const [now, before] = await Promise.all([read(query.minutes), read(query.previousMinutes)]);
  return [...now].flatMap(([service, counts]): Item[] => {
    const earlier = before.get(service);
    if (earlier === undefined || !hasGrownSignificantly(earlier, counts)) return [];
    const [share, previousShare] = [counts.failed / counts.all, earlier.failed / earlier.all];
    return [
      {
        kind: 'service-errors',
        name: service,
        value: share - previousShare,
        unit: '1',
        reason: `${formatPercent(share)} of ${counts.all} requests failed, ${formatPercent(previousShare)} of ${earlier.all} in the previous period`,
        detail: buildDetailPath(`/api/services/${encodeURIComponent(service)}`, query),
      },
    ];
  });
};

const formatMilliseconds = (nanoseconds: number): string => `${Number((nanoseconds / 1e6).toPrecision(3))} ms`;

const findSlowServices = async (reader: TenantReader, query: AttentionQuery): Promise<Item[]> =>
  (await readSlowerServices(reader, query)).map(
    ({ service, requests, slowShare, p95, p95Before }): Item => ({
      kind: 'slow-service',
      name: service,
      value: slowShare,
      unit: '1',
      reason: `${formatPercent(slowShare)} of ${requests} requests took longer than 95 % of those in the previous period; p95 ${formatMilliseconds(p95)}, ${formatMilliseconds(p95Before)} before`,
      detail: buildDetailPath(`/api/services/${encodeURIComponent(service)}`, query),
    }),
  );

const findWorseDeployments = async (reader: TenantReader, query: AttentionQuery): Promise<Item[]> => {
  const range = { from: query.minutes.from, to: query.minutes.to - 1n };
  const { projectId, scope } = query;
  return (await readWorseDeployments(reader, { range, projectId, scope }, maxDeployments)).map(
    ({ deployment: { service, version, time }, judgment }): Item => ({
      kind: 'deployment',
      name: `${service} ${version}`,
      unit: '1',
      value: typeof judgment.confidence === 'number' ? judgment.confidence : null,
      reason: `${judgment.reason} (deployed ${time})`,
      detail: buildDetailPath(`/api/services/${encodeURIComponent(service)}/deployments`, query),
    }),
  );
};

/** Returns the title of an error group. Its location replaces a missing message. */
const formatErrorTitle = ({ type, message, culprit }: ErrorGroup): string =>
  [type, message || culprit].filter(Boolean).join(': ').slice(0, 200);

const findNewErrors = async (reader: TenantReader, query: AttentionQuery): Promise<Item[]> => {
  const range = { from: query.minutes.from, to: query.minutes.to - 1n };
  const { items } = await readErrorGroups(
    reader,
    {
      range,
      insertedBeforeMs: reader.nowMs,
      sort: '-firstSeen',
      limit: maxGroups,
      filter: { projectId: query.projectId, scope: query.scope, status: 'unresolved' },
    },
    query.decisions,
  );
  return items
    .filter(({ isNew }) => isNew)
    .map(
      (group: ErrorGroup): Item => ({
        kind: 'new-error',
        name: formatErrorTitle(group),
        value: group.count,
        unit: '{error}',
        reason: `${group.count} ${group.count === 1 ? 'event' : 'events'} since ${group.firstSeen.slice(0, 16).replace('T', ' ')} UTC, in ${group.services.join(', ')}`,
        detail: buildDetailPath(`/api/errors/${group.id}`, query),
      }),
    );
};

const findSilentHosts = async (reader: TenantReader, query: AttentionQuery): Promise<Item[]> => {
  const to = query.minutes.to - 1n;
  const { items } = await readHosts(reader, { from: query.minutes.from, to }, query);
  return items
    .filter(({ state, wasStopped }) => state === 'silent' && wasStopped.value !== true)
    .map(
      (host): Item => ({
        kind: 'silent-host',
        name: host.name.value ?? host.id,
        value: null,
        unit: '',
        reason: host.reason,
        detail: buildDetailPath(`/api/infrastructure/hosts/${encodeURIComponent(host.id)}`, query),
      }),
    );
};

const findFullDisks = async (reader: TenantReader, query: AttentionQuery): Promise<Item[]> => {
  const to = query.minutes.to - 1n;
  const { items } = await readDisks(reader, { from: query.minutes.from, to }, query);
  return items.flatMap(({ disk }): Item[] => {
    const share = disk.utilization.value;
    if (share === null || share < minFullDiskShare || disk.isReadOnly) return [];
    const name = disk.claim.value ?? `${disk.host.value ?? ''} ${disk.mountpoints[0] || disk.device}`.trim();
    return [
      {
        kind: 'full-disk',
        name,
        value: share,
        unit: '1',
        reason: `${formatPercent(share)} used`,
        detail: buildDetailPath(`/api/infrastructure/disks?search=${encodeURIComponent(disk.id)}`, query),
      },
    ];
  });
};

const findSpikingPatterns = async ({ columns, plan, nowMs }: TenantReader, query: AttentionQuery): Promise<Item[]> => {
  const totalsQuery = {
    range: { from: query.minutes.from, to: query.minutes.to - 1n },
    filter: { projectId: query.projectId, scope: query.scope },
    nowMs,
    retainedFromMs: nowMs - plan.retentionDays.logs * 86_400_000,
  };
  const totals = await countPatterns(columns, totalsQuery);
  return [...totals.byId.values()].flatMap((total): Item[] => {
    const { isSpiking, hour } = judgePattern(totals, total, totalsQuery);
    if (isSpiking !== true) return [];
    return [
      {
        kind: 'log-pattern',
        name: (total.template ?? total.id).slice(0, 200),
        value: hour.count,
        unit: '{record}',
        reason: `${hour.count} records from ${hour.from} to ${hour.to}: far more than in this hour on other days`,
        detail: buildDetailPath(`/api/logs/patterns/${total.id}`, query),
      },
    ];
  });
};

/** SLOs belong to the organization, not to a project. */
const findBurningSlos = async (
  reader: TenantReader,
  { projectId, scope, managedRules }: AttentionQuery,
): Promise<Item[]> => {
  if (projectId !== undefined && scope !== 'account') return [];
  return (await readBurningObjectives(reader, managedRules)).map(
    ([id, { rule, value }]): Item => ({
      kind: 'slo-burning',
      name: rule.labels['slo'] ?? id,
      value,
      unit: '1',
      reason: `burns its error budget ${Number((value ?? 0).toPrecision(3))} times faster than allowed`,
      detail: `/api/slos/${encodeURIComponent(id)}/status`,
    }),
  );
};

const findFailingChecks = async (reader: TenantReader, query: AttentionQuery): Promise<Item[]> => {
  const { projectId, scope, managedRules } = query;
  const isInScope = (alert: ManagedAlert): boolean =>
    projectId === undefined || scope === 'account' || alert.projectId === projectId;
  return (await readFailingChecks(reader, managedRules))
    .filter(([, alert]) => isInScope(alert))
    .map(
      ([id, { rule, value, reason }]): Item => ({
        kind: 'check-failing',
        name: rule.labels['check'] ?? id,
        value,
        unit: '',
        reason,
        detail: `/api/synthetics/checks/${encodeURIComponent(id)}`,
      }),
    );
};

/** Returns open anomalies, if the plan includes them. */
const findOpenAnomalies = async (reader: TenantReader, query: AttentionQuery): Promise<Item[]> => {
  if (!reader.plan.entitlements.includes('ai')) return [];
  return (await readOpenAnomalies(reader, query, maxPerKind)).map(
    (anomaly): Item => ({
      kind: 'anomaly',
      name: `${anomaly.detectorName}: ${describeSeries(anomaly)}`.slice(0, 200),
      value: anomaly.score,
      unit: '1',
      reason: describeAnomaly(anomaly),
      detail: `/api/ai/anomalies/${encodeURIComponent(anomaly.id)}`,
    }),
  );
};

/** A detector that cannot score, with the reason */
export interface Detector {
  readonly id: string;
  readonly name: string;
  readonly reason: string;
}

const toDetectorItem = ({ id, name, reason }: Detector): Item => ({
  kind: 'detector',
  name,
  reason,
  value: null,
  unit: '',
  detail: `/api/ai/detectors/${encodeURIComponent(id)}`,
});

const toPlatformItem = ({ ruleName, reason }: ActivePlatformAlert): Item => ({
  kind: 'platform',
  name: ruleName,
  reason,
  value: null,
  unit: '',
  detail: `/api/alerts?ruleId=${platformRuleId}`,
});

type Incident = Pick<StoredIncident, 'title' | 'severity' | 'status' | 'openedAt'> & { readonly id: string };

/** Unacknowledged incidents first, then by severity, then the oldest. */
const toUrgencyKey = ({ status, severity, openedAt }: Incident): string =>
  `${status === 'open' ? 0 : 1} ${alertSeverities.length - alertSeverities.indexOf(severity)} ${openedAt}`;

const toIncidentItem = ({ id, title, severity, status, openedAt }: Incident): Item => ({
  kind: 'incident',
  name: title,
  value: null,
  unit: '',
  detail: `/api/incidents/${id}`,
  reason: `${severity}, since ${openedAt.slice(0, 16).replace('T', ' ')} UTC: ${status === 'open' ? 'not acknowledged' : 'acknowledged'}`,
});

const toIncidentItems = (incidents: readonly Incident[]): Item[] =>
  incidents
    .toSorted((left, right) => (toUrgencyKey(left) < toUrgencyKey(right) ? -1 : 1))
    .slice(0, maxPerKind)
    .map(toIncidentItem);

const finders: Readonly<
  Record<
    SearchedKind,
    readonly ['logs' | 'metrics' | 'traces', (reader: TenantReader, query: AttentionQuery) => Promise<Item[]>]
  >
> = {
  'service-errors': ['traces', findServiceErrors],
  'slow-service': ['traces', findSlowServices],
  deployment: ['traces', findWorseDeployments],
  'new-error': ['traces', findNewErrors],
  'silent-host': ['metrics', findSilentHosts],
  'full-disk': ['metrics', findFullDisks],
  'log-pattern': ['logs', findSpikingPatterns],
  // Reads alert states only, not the data from which SLOs are measured.
  'slo-burning': ['logs', findBurningSlos],
  'check-failing': ['logs', findFailingChecks],
  anomaly: ['logs', findOpenAnomalies],
};

/** Evaluates each kind and returns its worst items. Items that make all results unreliable come first. */
export const readAttention = async (reader: TenantReader, query: AttentionQuery): Promise<Attention> => {
  const range = { from: query.minutes.from, to: query.minutes.to - 1n };
  const results = await Promise.all(
    searchedKinds.map(async (kind): Promise<Item[] | string> => {
      const [signal, check] = finders[kind];
      return findRangeProblem(range, { caller: reader, signal, nowMs: reader.nowMs }) ?? (await check(reader, query));
    }),
  );
  const worst = results.flatMap((items) =>
    typeof items === 'string'
      ? []
      : items.toSorted((left, right) => (right.value ?? 0) - (left.value ?? 0)).slice(0, maxPerKind),
  );
  return {
    items: [
      ...query.platformAlerts.slice(0, maxPerKind).map(toPlatformItem),
      ...toIncidentItems(query.incidents),
      ...query.detectors.slice(0, maxPerKind).map(toDetectorItem),
      ...worst,
    ],
    unknown: results.flatMap((reason, index) =>
      typeof reason === 'string' ? [{ kind: searchedKinds[index] as SearchedKind, reason }] : [],
    ),
  };
};
