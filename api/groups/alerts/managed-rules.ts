/** Synchronizes managed alert rules with their owners: SLOs and synthetic checks. */
import { queryVersion } from '../../../queries/query.ts';
import type { CollectionDefinition, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { alertRules, type ManagedBy, type StoredAlertRule } from '../../../schemas/resources/alert-rule.ts';
import type { AlertRuleFields } from '../../../subjects/alerts/rule.ts';
import type { FindManagedRules } from '../../../subjects/overview/managed-alerts.ts';
import { hasSameContent } from '../../resources/resource-history.ts';

type Rule = AlertRuleFields & Pick<StoredAlertRule, 'queryVersion' | 'managedBy'>;
const collection = alertRules as CollectionDefinition<object> as CollectionDefinition<Rule>;

/** Finds the managed rules of an organization. */
export const findManagedRules =
  (documents: TenantDocuments): FindManagedRules =>
  async (ids) => {
    const filter = { id: { $in: [...ids] }, managedBy: { $ne: null } };
    return (await documents.collection(collection).list({ filter, limit: Math.max(1, ids.length) })).items;
  };

/**
 * Makes the managed rules of an owner equal to the desired rules: creates, updates and deletes rules. Call it in the
 * transaction that writes the owner.
 */
export const syncManagedRules = async (
  documents: TenantDocuments,
  managedBy: ManagedBy,
  desiredRules: readonly (readonly [ruleId: string, AlertRuleFields])[],
): Promise<void> => {
  const ruleCollection = documents.collection(collection);
  const [[ownerField, id]] = Object.entries(managedBy) as [[string, string]];
  const { items } = await ruleCollection.list({ filter: { [`managedBy.${ownerField}`]: id } });
  const remainingRules = new Map(items.map((rule) => [rule.id, rule]));
  for (const [ruleId, fields] of desiredRules) {
    const rule: Rule = { ...fields, queryVersion, managedBy };
    const existing = remainingRules.get(ruleId);
    remainingRules.delete(ruleId);
    if (existing === undefined) await ruleCollection.insert({ ...rule, id: ruleId });
    else if (!hasSameContent(rule, existing)) await ruleCollection.replace(ruleId, rule, existing.version);
  }
  for (const [ruleId, { version }] of remainingRules) await ruleCollection.delete(ruleId, version);
};
