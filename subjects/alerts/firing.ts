/** Firing alerts with all their labels, from their last transitions. */
import type { TenantColumns } from '../../schemas/ports/columns.ts';

export interface FiringAlert {
  readonly alertId: string;
  readonly ruleId: string;
  readonly ruleName: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns firing alerts, most recently started first, without test alerts. */
export const readFiringAlerts = async (columns: TenantColumns, limit: number): Promise<FiringAlert[]> => {
  const rows = await columns.query<{ alert: string; rule: string; name: string; labels: Record<string, string> }>(
    `SELECT alert_id AS alert, any(rule_id) AS rule, argMax(rule_name, time) AS name, argMax(alert_transitions.labels, time) AS labels,
      argMax(to_state, time) AS state, max(time) AS latest
    FROM alert_transitions WHERE tenant_id = {tenant:String} AND NOT is_test
    GROUP BY alert_id HAVING state IN ('firing', 'recovering', 'unknown')
    ORDER BY latest DESC, alert LIMIT ${limit}`,
    {},
    { maxResultRows: limit },
  );
  return rows.map(({ alert, rule, name, labels }) => ({
    alertId: alert,
    ruleId: rule,
    ruleName: name,
    labels: { ...labels },
  }));
};
