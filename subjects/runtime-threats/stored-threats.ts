/** Stored events of sensors, by group */
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { RuntimeThreat } from '../../schemas/runtime-threats.ts';
import { createHistoryCondition, type HistoryPage } from '../events/history-page.ts';

export interface ThreatFilter extends ProjectScope {
  readonly id?: string | undefined;
  readonly rule?: string | undefined;
  readonly source?: string | undefined;
  readonly workload?: string | undefined;
  readonly host?: string | undefined;
}

/** The latest event of a group, with the numbers of the group */
export interface StoredThreatGroup {
  readonly id: string;
  readonly project: string;
  readonly total: string;
  readonly first_ms: string;
  readonly last_ms: string;
  readonly hosts: readonly string[];
  readonly host_count: string;
  readonly pods: readonly string[];
  readonly services: readonly string[];
  readonly all_techniques: readonly string[];
  /** Tuples of the latest event: source, rule, severity, workload, namespace, image, program, target pattern */
  readonly latest: readonly [
    source: RuntimeThreat['source'],
    rule: string,
    severity: RuntimeThreat['severity'],
    workload: string,
    namespace: string,
    image: string,
    program: string,
    targetPattern: string,
  ];
  /** Time in milliseconds, record, message, command line, target, user, host, action */
  readonly latest_events: readonly (readonly [
    ms: string,
    recordId: string,
    message: string,
    commandLine: string,
    target: string,
    user: string,
    host: string,
    action: string,
  ])[];
}

export const maxGroups = 10_000;
const maxLatestEvents = 5;

/** Returns groups with events in a range, the one with the latest event first. An event that was stored twice counts once. */
export const readThreatGroups = ({ columns }: Pick<TenantReader, 'columns'>, filter: ThreatFilter, range: Range) => {
  const { id, rule, source, workload, host } = filter;
  const equalities = Object.entries({ group_id: id, rule, source, workload, host }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const conditions = equalities.map(([name]) => ` AND ${name} = {${name}:String}`).join('');
  return columns.query<StoredThreatGroup>(
    `SELECT group_id AS id, any(project_id) AS project, toString(count()) AS total,
      toString(toUnixTimestamp64Milli(min(time))) AS first_ms, toString(toUnixTimestamp64Milli(max(time))) AS last_ms,
      groupUniqArray(20)(host) AS hosts, toString(uniqExact(host)) AS host_count, groupUniqArray(20)(pod) AS pods,
      groupUniqArray(20)(service) AS services, arraySort(groupUniqArrayArray(techniques)) AS all_techniques,
      argMax((source, rule, severity, workload, namespace, image, program, target_pattern), (time, threats.id)) AS latest,
      arrayMap(item -> (toString(-item.1), item.2, item.3, item.4, item.5, item.6, item.7, item.8),
        groupArraySorted(${maxLatestEvents})((-toUnixTimestamp64Milli(time), record_id, message, command_line, target, user, host, action))) AS latest_events
    FROM (SELECT * FROM runtime_threats WHERE tenant_id = {tenant:String}
        AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        ${conditions}${buildProjectScopeCondition(filter)}
      LIMIT 1 BY group_id, runtime_threats.id) AS threats
    GROUP BY group_id ORDER BY max(time) DESC, group_id LIMIT ${maxGroups}`,
    {
      from: String(-(-range.from / 1_000_000n)),
      to: String(range.to / 1_000_000n),
      ...Object.fromEntries(equalities),
      ...toProjectScopeParameters(filter),
    },
  );
};

/** One event, for feeds */
export interface StoredThreat {
  readonly id: string;
  readonly ms: string;
  readonly group_id: string;
  readonly project: string;
  readonly service: string;
  readonly source: RuntimeThreat['source'];
  readonly rule: string;
  readonly severity: RuntimeThreat['severity'];
  readonly workload: string;
  readonly host: string;
  readonly user: string;
  readonly program: string;
}

/** Returns events of a page, the newest first. */
export const readThreats = (
  { columns }: Pick<TenantReader, 'columns'>,
  scope: ProjectScope,
  page: HistoryPage,
): Promise<StoredThreat[]> => {
  const { sql, values } = createHistoryCondition(page, 'id');
  return columns.query<StoredThreat>(
    `SELECT id, toString(toUnixTimestamp64Milli(time)) AS ms, group_id, project_id AS project, service, source, rule, severity, workload, host, user, program
    FROM runtime_threats WHERE tenant_id = {tenant:String} AND ${sql}${buildProjectScopeCondition(scope)}
    ORDER BY time DESC, id DESC LIMIT 1 BY id LIMIT ${page.limit}`,
    { ...values, ...toProjectScopeParameters(scope) },
  );
};
