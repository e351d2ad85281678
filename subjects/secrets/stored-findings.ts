/** Stored findings of secrets, grouped by rule, secret, service and field */
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';

export interface StoredSecret {
  readonly id: string;
  readonly project: string;
  readonly found_rule: string;
  readonly found_service: string;
  readonly found_field: string;
  readonly found_fingerprint: string;
  readonly found_preview: string;
  readonly found_key_hash: string;
  readonly first_ms: string;
  readonly last_ms: string;
  readonly records: string;
  readonly total: string;
  readonly redacted: string;
  readonly signals: readonly ('logs' | 'traces')[];
  readonly last_record_id: string;
  readonly last_trace_id: string;
  readonly last_span_id: string;
}

export interface SecretFilter extends ProjectScope {
  readonly id?: string | undefined;
  readonly rule?: string | undefined;
  readonly service?: string | undefined;
  readonly fingerprint?: string | undefined;
}

/** Maximum number of findings that one request reads */
export const maxFindings = 10_000;

/** Returns findings of a range, those with the latest occurrence first. A record that was stored twice counts once. */
export const readStoredSecrets = ({ columns }: Pick<TenantReader, 'columns'>, filter: SecretFilter, range: Range) => {
  const { id, rule, service, fingerprint } = filter;
  const equalities = Object.entries({ finding_id: id, rule, service, fingerprint }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const conditions = equalities.map(([name]) => ` AND ${name} = {${name}:String}`).join('');
  return columns.query<StoredSecret>(
    `SELECT finding_id AS id, any(project_id) AS project, any(rule) AS found_rule, any(service) AS found_service, any(field) AS found_field,
      any(fingerprint) AS found_fingerprint, max(preview) AS found_preview, max(key_hash) AS found_key_hash,
      toString(toUnixTimestamp64Milli(min(time))) AS first_ms, toString(toUnixTimestamp64Milli(max(time))) AS last_ms,
      toString(count()) AS records, toString(sum(occurrences)) AS total, toString(countIf(is_redacted)) AS redacted,
      groupUniqArray(signal) AS signals, argMax(record_id, (time, offset)) AS last_record_id,
      argMax(trace_id, (time, offset)) AS last_trace_id, argMax(span_id, (time, offset)) AS last_span_id
    FROM (SELECT * FROM secret_findings WHERE tenant_id = {tenant:String}
        AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        ${conditions}${buildProjectScopeCondition(filter)}
      LIMIT 1 BY finding_id, secret_findings.id) AS records
    GROUP BY finding_id ORDER BY max(time) DESC, finding_id LIMIT ${maxFindings}`,
    {
      from: String(-(-range.from / 1_000_000n)),
      to: String(range.to / 1_000_000n),
      ...Object.fromEntries(equalities),
      ...toProjectScopeParameters(filter),
    },
  );
};
