/** Resources that sent telemetry in a range, with what instrumented them */
import type { Attributes } from '../../queries/attributes.ts';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { getResources } from '../../queries/resources.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../../queries/series-first-seen.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { minutesCondition, toMinutesParameters } from '../services/minutes.ts';
import { type Instrumentation, identifyInstrumentation } from './distributions.ts';

export interface Sender {
  readonly resourceId: string;
  /** Empty for resources without a service */
  readonly service: string;
  /** `host.id`, `host.name` or the node; empty if the resource names none */
  readonly host: string;
  /** Name of the host for people */
  readonly hostName: string;
  readonly attributes: Attributes;
  readonly instrumentation: Instrumentation | undefined;
  /** Number of spans; of metrics only whether there are any */
  readonly spans: number;
  readonly lastMs: number;
}

const maxSenders = 20_000;

interface Row {
  readonly resource: string;
  readonly name: string;
  readonly all_spans: string;
  readonly last: string;
}

const toText = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

/** Reads the senders of a range, those with the latest telemetry first. */
export const readSenders = async (
  { columns }: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly senders: readonly Sender[]; readonly isTruncated: boolean }> => {
  const parameters = {
    ...toMinutesParameters(range),
    ...toSeriesSeenParameters(range),
    ...toProjectScopeParameters(scope),
  };
  const projects = buildProjectScopeCondition(scope);
  const rows = await columns.query<Row>(
    `SELECT toString(id) AS resource, any(service_name) AS name, toString(sum(span_count)) AS all_spans, toString(max(seen)) AS last FROM (
      SELECT resource_id AS id, any(service) AS service_name, sum(spans) AS span_count, toUnixTimestamp64Milli(max(last_seen)) AS seen
      FROM resource_activity WHERE tenant_id = {tenant:String} AND ${minutesCondition}${projects} GROUP BY resource_id
      UNION ALL
      SELECT resource_id AS id, any(service) AS service_name, toUInt64(0) AS span_count, toUnixTimestamp64Milli(max(last_seen)) AS seen
      FROM series WHERE tenant_id = {tenant:String} AND ${seriesSeenCondition}${projects} GROUP BY resource_id)
    GROUP BY id ORDER BY max(seen) DESC LIMIT ${maxSenders + 1}`,
    parameters,
  );
  const listedSenders = rows.slice(0, maxSenders);
  const resources = await getResources(
    columns,
    listedSenders.map(({ resource }) => resource),
  );
  const senders = listedSenders.map(({ resource, name, all_spans, last }): Sender => {
    const attributes = resources.get(resource)?.attributes ?? {};
    const hostName = toText(attributes['host.name']) || toText(attributes['k8s.node.name']);
    return {
      resourceId: resource,
      service: name,
      host: toText(attributes['host.id']) || hostName,
      hostName: hostName || toText(attributes['host.id']),
      attributes,
      instrumentation: identifyInstrumentation(attributes),
      spans: Number(all_spans),
      lastMs: Number(last),
    };
  });
  return { senders, isTruncated: rows.length > maxSenders };
};
