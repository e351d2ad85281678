import { defineResource } from '../../resources/resource.ts';
import { type RuleDocument, type RuleView, ruleDefinition } from './rule.ts';

/** The same documents, for plans with the entitlement `security`. */
export const securityRuleResource = defineResource<typeof ruleDefinition.fields, RuleDocument, typeof RuleView>({
  ...ruleDefinition,
  noun: 'security rule',
  type: 'detection-rule',
  path: '/api/security/rules',
  verbs: ['list', 'create', 'read', 'replace', 'delete'],
  entitlement: 'security',
});
