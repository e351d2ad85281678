/** A firing alert of a rule of an organization, as its evaluation would have landed. */
import type { World } from './example.ts';
import { canaryOf } from './telemetry.ts';

/** Creates a rule, and lands a firing alert of it. Returns both IDs. */
export const firingAlert = async ({ harness, tenant, make }: World): Promise<{ ruleId: string; alertId: string }> => {
  const { id: ruleId } = await make('createAlertRule');
  const alertId = `alert-${ruleId}`;
  const nowMs = Date.now();
  await harness.columns.execute(
    `INSERT INTO alert_states (tenant_id, rule_id, alert_id, evaluated_ms, last_seen, labels, state, severity, value, reason, since_ms, started_ms, groups, firing) VALUES
      ('${tenant}', '${ruleId}', '', ${nowMs}, now64(3), map(), 'firing', '', 5, '', 0, 0, 1, 1),
      ('${tenant}', '${ruleId}', '${alertId}', ${nowMs}, now64(3), map('service', '${canaryOf(tenant)}'), 'firing', 'critical', 5, '${canaryOf(tenant)} is above', ${nowMs - 5000}, ${nowMs - 5000}, 1, 1)`,
  );
  await harness.columns.execute(
    `INSERT INTO alert_transitions (tenant_id, id, alert_id, rule_id, rule_version, rule_name, time, from_state, to_state, severity, labels, value, reason, received_at) VALUES
      ('${tenant}', 'transition-${ruleId}', '${alertId}', '${ruleId}', 1, '${canaryOf(tenant)}', now64(3) - 5, 'inactive', 'firing', 'critical', map('service', '${canaryOf(tenant)}'), 5, '${canaryOf(tenant)} is above', now64(3))`,
  );
  await harness.columns.execute(
    `INSERT INTO alert_evaluations (tenant_id, rule_id, rule_version, time, alert_id, labels, state, severity, value, reason, groups, firing, received_at)
      SELECT tenant_id, rule_id, 1, last_seen - 5, alert_id, labels, state, severity, value, reason, groups, firing, now64(3) FROM alert_states
      WHERE tenant_id = '${tenant}' AND rule_id = '${ruleId}'`,
  );
  return { ruleId, alertId };
};
