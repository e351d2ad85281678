/** Keeps the alert rules of an objective as it and its policy say. */
import { queryVersion } from '../../../queries/query.ts';
import type { CollectionDefinition, Stored, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { alertRules, type StoredAlertRule } from '../../../schemas/resources/alert-rule.ts';
import { sloPolicies } from '../../../schemas/resources/slo-policy.ts';
import type { AlertRuleFields } from '../../../subjects/alerts/rule.ts';
import { alertRulesOf } from '../../../subjects/slos/alert-rules.ts';
import type { SloFields } from '../../../subjects/slos/document.ts';
import { readPolicy } from '../../../subjects/slos/policy.ts';
import { saysTheSame } from '../../resources/resource-history.ts';

type Rule = AlertRuleFields & Pick<StoredAlertRule, 'queryVersion' | 'managedBy'>;
const collection = alertRules as CollectionDefinition<object> as CollectionDefinition<Rule>;

interface SloChange {
  readonly before?: SloFields & Stored;
  readonly after?: SloFields & Stored;
}

/** Within the transaction that writes the objective: makes its rules, changes those that say something else, and deletes the others; with an objective goes its policy. */
export const keepManagedRules = async (documents: TenantDocuments, { before, after }: SloChange): Promise<void> => {
  const sloId = (after ?? before)?.id;
  if (sloId === undefined) return;
  const stored = documents.collection(collection);
  const { items } = await stored.list({ filter: { 'managedBy.sloId': sloId } });
  const known = new Map(items.map((rule) => [rule.id, rule]));
  const policies = documents.collection(sloPolicies);
  const policy = await policies.find(sloId);
  if (after === undefined && policy !== undefined) await policies.delete(sloId, policy.version);
  const wanted = after === undefined ? [] : alertRulesOf(sloId, after, readPolicy(policy));
  for (const [id, fields] of wanted) {
    const rule: Rule = { ...fields, queryVersion, managedBy: { sloId } };
    const present = known.get(id);
    known.delete(id);
    if (present === undefined) await stored.insert({ ...rule, id });
    else if (!saysTheSame(rule, present)) await stored.replace(id, rule, present.version);
  }
  for (const [id, { version }] of known) await stored.delete(id, version);
};
