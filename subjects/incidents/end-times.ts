/** Determines when all alerts of an incident have ended */
import type { AlertState } from '../../schemas/alerts.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Incident } from '../../schemas/resources/incident.ts';

export interface LastTransition {
  readonly to: AlertState;
  readonly atMs: number;
}

/** Returns the last stored transition of each alert, without tests. */
export const readLastTransitions = async (
  { query }: Pick<TenantColumns, 'query'>,
  alertIds: readonly string[],
): Promise<ReadonlyMap<string, LastTransition>> => {
  const rows = await query<{ alert: string; state: AlertState; ms: string }>(
    `SELECT alert_id AS alert, argMax(to_state, (time, id)) AS state, toString(toUnixTimestamp64Milli(max(time))) AS ms
    FROM alert_transitions WHERE tenant_id = {tenant:String} AND alert_id IN {alerts:Array(String)} AND NOT is_test
    GROUP BY alert_id LIMIT ${alertIds.length}`,
    { alerts: [...alertIds] },
    { maxResultRows: alertIds.length },
  );
  return new Map(rows.map(({ alert, state, ms }) => [alert, { to: state, atMs: Number(ms) }]));
};

/** Returns when the last alert ended; `undefined` while an alert is active, unknown, or without a stored transition. */
export const findEndMs = (
  alertIds: readonly string[],
  lastTransitions: ReadonlyMap<string, LastTransition>,
): number | undefined => {
  const ends = alertIds.map((id) => {
    const transition = lastTransitions.get(id);
    return transition?.to === 'inactive' ? transition.atMs : undefined;
  });
  const knownEnds = ends.filter((ms) => ms !== undefined);
  return knownEnds.length === 0 || knownEnds.length < ends.length ? undefined : Math.max(...knownEnds);
};

/**
 * Returns whether alerts opened an incident, and all of them have ended since. An earlier end belongs to another
 * incident: the transition of the alert that opened this one has not landed yet.
 */
export const haveAlertsEnded = async (
  columns: Pick<TenantColumns, 'query'>,
  incident: Pick<Incident, 'groupId' | 'alertIds' | 'openedAt' | 'reopenedAt'>,
): Promise<boolean> => {
  const { groupId, alertIds, openedAt, reopenedAt } = incident;
  if (groupId === null || alertIds.length === 0) return false;
  const endMs = findEndMs(alertIds, await readLastTransitions(columns, alertIds));
  return endMs !== undefined && endMs >= Date.parse(reopenedAt ?? openedAt);
};
