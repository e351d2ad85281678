/** SLOs and synthetic checks with firing alert rules */
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { StoredAlertRule } from '../../schemas/resources/alert-rule.ts';
import { type ActiveAlert, readAlerts } from '../alerts/history.ts';

/**
 * A rule that an SLO or a check manages. Its alerts are stored with their group labels only; this type adds the
 * labels of the rule.
 */
export type ManagedRule = Pick<StoredAlertRule, 'managedBy'> &
  Pick<StoredMetadata, 'id'> & { readonly labels: Readonly<Record<string, string>> };

/** Returns the managed rules among those with the given ids. */
export type FindManagedRules = (ids: readonly string[]) => Promise<readonly ManagedRule[]>;

export interface ManagedAlert extends ActiveAlert {
  readonly rule: ManagedRule;
}

type AlertReadContext = Pick<TenantReader, 'columns' | 'nowMs'>;

/** Maximum age of an alert evaluation that counts as current */
const maxAlertAgeMs = 10 * 60_000;
const maxAlerts = 1000;

const readFiringAlerts = async (
  reader: AlertReadContext,
  findManagedRules: FindManagedRules,
): Promise<ManagedAlert[]> => {
  const firingAlerts = (await readAlerts(reader, { states: ['firing'] }, maxAlerts)).filter(
    ({ evaluatedMs }) => reader.nowMs - evaluatedMs < maxAlertAgeMs,
  );
  const rules = new Map(
    (await findManagedRules([...new Set(firingAlerts.map(({ ruleId }) => ruleId))])).map((rule) => [rule.id, rule]),
  );
  return firingAlerts.flatMap((alert) => {
    const rule = rules.get(alert.ruleId);
    return rule === undefined ? [] : [{ ...alert, rule }];
  });
};

/** Returns the worst alert of each SLO with a high burn rate, by SLO id. */
export const readBurningObjectives = async (
  reader: AlertReadContext,
  findManagedRules: FindManagedRules,
): Promise<readonly (readonly [sloId: string, ManagedAlert])[]> =>
  selectWorst(await readFiringAlerts(reader, findManagedRules), ({ managedBy, labels }) =>
    managedBy && 'sloId' in managedBy && labels['burn'] !== undefined ? managedBy.sloId : undefined,
  );

/** Returns the worst alert of each check, by check id. */
export const readFailingChecks = async (
  reader: AlertReadContext,
  findManagedRules: FindManagedRules,
): Promise<readonly (readonly [checkId: string, ManagedAlert])[]> =>
  selectWorst(await readFiringAlerts(reader, findManagedRules), ({ managedBy }) =>
    managedBy && 'checkId' in managedBy ? managedBy.checkId : undefined,
  );

const selectWorst = (
  alerts: readonly ManagedAlert[],
  getManagerId: (rule: ManagedRule) => string | undefined,
): readonly (readonly [string, ManagedAlert])[] => {
  const worstAlerts = new Map<string, ManagedAlert>();
  for (const alert of alerts) {
    const id = getManagerId(alert.rule);
    if (id !== undefined && (worstAlerts.get(id)?.value ?? Number.NEGATIVE_INFINITY) < (alert.value ?? 0))
      worstAlerts.set(id, alert);
  }
  return [...worstAlerts];
};
