/** Objectives and synthetic checks whose alert rules fire. */
import type { Reading } from '../../queries/reading.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import type { StoredAlertRule } from '../../schemas/resources/alert-rule.ts';
import { type ActiveAlert, readAlerts } from '../alerts/history.ts';

/** A rule that an objective or a check has made. Its alerts land with the labels of their groups: those of the rule are here. */
export type ManagedRule = Pick<StoredAlertRule, 'managedBy'> &
  Pick<Stored, 'id'> & { readonly labels: Readonly<Record<string, string>> };

/** Of the rules with these ids, those that are managed. */
export type FindManagedRules = (ids: readonly string[]) => Promise<readonly ManagedRule[]>;

export interface ManagedAlert extends ActiveAlert {
  readonly rule: ManagedRule;
}

type ManagedReading = Pick<Reading, 'columns' | 'nowMs'>;

/** Alerts that were not evaluated for so long say nothing of now. */
const alertsKnownMs = 10 * 60_000;
const maxAlerts = 1000;

const firingAlerts = async (reading: ManagedReading, find: FindManagedRules): Promise<ManagedAlert[]> => {
  const firing = (await readAlerts(reading, { states: ['firing'] }, maxAlerts)).filter(
    ({ evaluatedMs }) => reading.nowMs - evaluatedMs < alertsKnownMs,
  );
  const rules = new Map((await find([...new Set(firing.map(({ ruleId }) => ruleId))])).map((rule) => [rule.id, rule]));
  return firing.flatMap((alert) => {
    const rule = rules.get(alert.ruleId);
    return rule === undefined ? [] : [{ ...alert, rule }];
  });
};

/** The worst alert of each objective whose budget burns, by its id. */
export const burningObjectives = async (
  reading: ManagedReading,
  find: FindManagedRules,
): Promise<readonly (readonly [sloId: string, ManagedAlert])[]> =>
  worstOf(await firingAlerts(reading, find), ({ managedBy, labels }) =>
    managedBy && 'sloId' in managedBy && labels['burn'] !== undefined ? managedBy.sloId : undefined,
  );

/** The worst alert of each check, by its id. */
export const failingChecks = async (
  reading: ManagedReading,
  find: FindManagedRules,
): Promise<readonly (readonly [checkId: string, ManagedAlert])[]> =>
  worstOf(await firingAlerts(reading, find), ({ managedBy }) =>
    managedBy && 'checkId' in managedBy ? managedBy.checkId : undefined,
  );

const worstOf = (
  alerts: readonly ManagedAlert[],
  idOf: (rule: ManagedRule) => string | undefined,
): readonly (readonly [string, ManagedAlert])[] => {
  const worst = new Map<string, ManagedAlert>();
  for (const alert of alerts) {
    const id = idOf(alert.rule);
    if (id !== undefined && (worst.get(id)?.value ?? Number.NEGATIVE_INFINITY) < (alert.value ?? 0))
      worst.set(id, alert);
  }
  return [...worst];
};
