/** Reads the calls between given services */
import { requireReadAccess } from '../../queries/entitlement.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { minutesCondition, toFullMinutes, toMinutesParameters } from './minutes.ts';

export interface ServiceCalls {
  readonly client: string;
  readonly server: string;
  readonly requests: number;
  readonly errors: number;
}

/**
 * Returns calls from one service to another in the full minutes of a range; those with the most failing calls first.
 */
export const readCallsBetween = async (
  reader: TenantReader,
  services: readonly string[],
  range: Range,
): Promise<ServiceCalls[]> => {
  requireReadAccess(reader, 'traces');
  const serviceList = '{services:Array(String)}';
  const rows = await reader.columns.query<{ client: string; server: string; requests: string; errors: string }>(
    `SELECT client, server, toString(sum(service_edges.requests)) AS requests, toString(sum(service_edges.errors)) AS errors
    FROM service_edges WHERE tenant_id = {tenant:String} AND ${minutesCondition} AND client_kind = 'service' AND server_kind = 'service'
      AND client != server AND client IN ${serviceList} AND server IN ${serviceList}
    GROUP BY client, server ORDER BY sum(service_edges.errors) DESC, sum(service_edges.requests) DESC, client, server LIMIT 1000`,
    { ...toMinutesParameters(toFullMinutes(range, reader.nowMs)), services: [...services] },
  );
  return rows.map(({ requests, errors, ...names }) => ({
    ...names,
    requests: Number(requests),
    errors: Number(errors),
  }));
};
