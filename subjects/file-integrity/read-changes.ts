/** Stored changes of files and packages */

import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { FileAction, FileState, fileSources, PackageAction } from '../../schemas/file-changes.ts';
import type { ApprovedState, BaselineFile } from '../../schemas/resources/file-baseline.ts';
import { createHistoryCondition, type HistoryPage } from '../events/history-page.ts';
import { createScopeCondition, type FileScope } from './scope.ts';

type Columns = Pick<TenantReader, 'columns'>;

export interface StoredChange {
  readonly id: string;
  readonly ms: string;
  readonly project: string;
  readonly record: string;
  readonly of: string;
  readonly source: (typeof fileSources)[number];
  readonly action: FileAction;
  readonly path: string;
  readonly path_before: string;
  readonly host: string;
  readonly user: string;
  readonly process: string;
  readonly process_id: string;
  readonly before: FileState;
  readonly after: FileState;
  readonly changed: readonly string[];
  readonly rule: string;
}

export interface ChangeFilter extends ProjectScope {
  readonly service?: string | undefined;
  readonly host?: string | undefined;
  /** Path; files at and below it are included */
  readonly path?: string | undefined;
  readonly actions?: readonly string[] | undefined;
  readonly source?: string | undefined;
  readonly user?: string | undefined;
  readonly process?: string | undefined;
  /** Hash of the file before or after the change */
  readonly hash?: string | undefined;
}

const changeColumns = `id, toString(toUnixTimestamp64Milli(time)) AS ms, project_id AS project, record_id AS record, service AS of, source, action, path,
  path_before, host, user, process, process_id, before, after, changed, rule`;

const equalityFilters = ['service', 'host', 'source', 'user', 'process'] as const;

const createFilterCondition = (filter: ChangeFilter) => {
  const { path, actions, hash } = filter;
  const givenFilters = equalityFilters.filter((name) => filter[name] !== undefined);
  const pathCondition = path === undefined ? undefined : createScopeCondition({ hosts: [], paths: [path] });
  const conditions = [
    ...givenFilters.map((name) => `${name} = {${name}:String}`),
    ...(pathCondition === undefined ? [] : [pathCondition.sql]),
    ...(actions === undefined ? [] : ['action IN {actions:Array(String)}']),
    ...(hash === undefined ? [] : ['(has(mapValues(before), {hash:String}) OR has(mapValues(after), {hash:String}))']),
  ];
  return {
    sql: `${conditions.map((condition) => ` AND ${condition}`).join('')}${buildProjectScopeCondition(filter)}`,
    values: {
      ...Object.fromEntries(givenFilters.map((name) => [name, filter[name]])),
      ...pathCondition?.values,
      ...(actions !== undefined && { actions }),
      ...(hash !== undefined && { hash: hash.toLowerCase() }),
      ...toProjectScopeParameters(filter),
    },
  };
};

/** Returns a page of changes, the newest first. A change that was stored twice occurs once. */
export const readChanges = ({ columns }: Columns, filter: ChangeFilter, page: HistoryPage): Promise<StoredChange[]> => {
  const { sql, values } = createHistoryCondition(page, 'id');
  const { sql: filterSql, values: filterValues } = createFilterCondition(filter);
  return columns.query<StoredChange>(
    `SELECT ${changeColumns} FROM file_changes WHERE tenant_id = {tenant:String} AND ${sql}${filterSql}
    ORDER BY time DESC, id DESC LIMIT 1 BY id LIMIT ${page.limit}`,
    { ...values, ...filterValues },
    { maxResultRows: page.limit },
  );
};

export interface ChangeCounts {
  readonly changes: number;
  readonly files: number;
  readonly hosts: number;
  readonly byAction: Readonly<Record<string, number>>;
  readonly bySource: Readonly<Record<string, number>>;
}

/** Returns the number of changes in a range. */
export const countChanges = async ({ columns }: Columns, filter: ChangeFilter, range: Range): Promise<ChangeCounts> => {
  const { sql, values } = createHistoryCondition({ range, limit: 0 }, 'id');
  const { sql: filterSql, values: filterValues } = createFilterCondition(filter);
  const where = `FROM file_changes WHERE tenant_id = {tenant:String} AND ${sql}${filterSql}`;
  const parameters = { ...values, ...filterValues };
  const [countRows, [distinctCounts]] = await Promise.all([
    columns.query<{ action: string; source: string; changes: string }>(
      `SELECT action, source, toString(uniqExact(id)) AS changes ${where} GROUP BY action, source`,
      parameters,
    ),
    columns.query<{ files: string; hosts: string }>(
      `SELECT toString(uniqExact((host, path))) AS files, toString(uniqExact(host)) AS hosts ${where}`,
      parameters,
    ),
  ]);
  const byAction: Record<string, number> = {};
  const bySource: Record<string, number> = {};
  let sum = 0;
  for (const { action, source, changes } of countRows) {
    const count = Number(changes);
    sum += count;
    byAction[action] = (byAction[action] ?? 0) + count;
    bySource[source] = (bySource[source] ?? 0) + count;
  }
  return {
    changes: sum,
    files: Number(distinctCounts?.files ?? 0),
    hosts: Number(distinctCounts?.hosts ?? 0),
    byAction,
    bySource,
  };
};

const maxRows = 100_000;

/** Returns files in their last state of a range, in path order; `undefined` if there are more than the limit. */
export const readFiles = async (
  { columns }: Columns,
  scope: FileScope,
  range: Range,
): Promise<readonly BaselineFile[] | undefined> => {
  const { sql, values } = createHistoryCondition({ range, limit: 0 }, 'id');
  const { sql: filterSql, values: filterValues } = createScopeCondition(scope, 'file');
  const rows = await columns.query<{
    file: string;
    last: string;
    content: FileState;
    mode: string;
    owner: string;
    group: string;
  }>(
    `SELECT file, argMax(what, (time, id)) AS last,
      argMaxIf(after, (time, id), what IN ('created', 'changed', 'renamed', 'deleted') OR mapContains(after, 'sha256') OR mapContains(after, 'md5')) AS content,
      argMaxIf(after['mode'], (time, id), mapContains(after, 'mode')) AS mode,
      argMaxIf(after['owner'], (time, id), mapContains(after, 'owner')) AS owner,
      argMaxIf(after['group'], (time, id), mapContains(after, 'group')) AS group
    FROM (
      SELECT host, time, id, after, entry.1 AS file, entry.2 AS what FROM file_changes
      ARRAY JOIN if(action = 'renamed' AND path_before != '', [(path, toString(action)), (path_before, 'deleted')], [(path, toString(action))]) AS entry
      WHERE tenant_id = {tenant:String} AND action != 'read' AND ${sql}
    ) WHERE ${filterSql}
    GROUP BY host, file ORDER BY file, host LIMIT ${maxRows + 1}`,
    { ...values, ...filterValues },
    { maxResultRows: maxRows + 1 },
  );
  if (rows.length > maxRows) return undefined;
  const files = new Map<string, Map<string, ApprovedState>>();
  for (const { file, last, content, mode, owner, group } of rows) {
    const { sha256, sha1, md5, size } = content;
    const state: ApprovedState =
      last === 'deleted'
        ? { isPresent: false }
        : {
            isPresent: true,
            ...(sha256 !== undefined && { sha256 }),
            ...(sha1 !== undefined && { sha1 }),
            ...(md5 !== undefined && { md5 }),
            ...(mode !== '' && { mode }),
            ...(owner !== '' && { owner }),
            ...(group !== '' && { group }),
            ...(size !== undefined && { size }),
          };
    const states = files.get(file) ?? new Map<string, ApprovedState>();
    files.set(file, states.set(JSON.stringify(state), state));
  }
  return [...files].map(([path, states]) => ({ path, states: [...states.values()] }));
};

export interface StoredPackage {
  readonly ms: string;
  readonly host: string;
  readonly manager: string;
  readonly action: PackageAction;
  readonly name: string;
  readonly version: string;
}

const maxPackages = 20_000;

/** Returns the package changes on hosts in a range. */
export const readPackages = (
  { columns }: Columns,
  hosts: readonly string[],
  range: Range,
): Promise<StoredPackage[]> => {
  const { sql, values } = createHistoryCondition({ range, limit: 0 }, 'id');
  return columns.query<StoredPackage>(
    `SELECT toString(toUnixTimestamp64Milli(time)) AS ms, host, manager, action, package AS name, version FROM package_changes
    WHERE tenant_id = {tenant:String} AND host IN {hosts:Array(String)} AND ${sql}
    ORDER BY time DESC, id DESC LIMIT 1 BY id LIMIT ${maxPackages}`,
    { ...values, hosts: [...hosts] },
    { maxResultRows: maxPackages },
  );
};

/** Returns services that run, or ran, on hosts, as `host service`. */
export const readServicesOnHosts = async (
  { columns }: Columns,
  hosts: readonly string[],
): Promise<ReadonlySet<string>> => {
  const rows = await columns.query<{ host: string; of: string }>(
    `SELECT DISTINCT attributes['host.name'] AS host, service AS of FROM resources
    WHERE tenant_id = {tenant:String} AND attributes['host.name'] IN {hosts:Array(String)} AND service != '' LIMIT 20000`,
    { hosts: [...hosts] },
  );
  return new Set(rows.map(({ host, of }) => `${host} ${of}`));
};
