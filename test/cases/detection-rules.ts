/** Rules for tests of detections, as they are stored. */

import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { DetectionRule } from '../../schemas/resources/detection-rule.ts';
import { readRules } from '../../subjects/detections/read.ts';

export type StoredDetectionRule = DetectionRule & StoredMetadata;

/** A deployed rule from a YAML text; its id is that of the text, or its name. */
export const deployedRule = (
  source: string,
  more: Partial<DetectionRule> = {},
): DetectionRule & { readonly id: string } => {
  const { documents, errors } = readRules(source);
  const [document] = documents;
  if (document === undefined) throw new Error(JSON.stringify(errors));
  const { kind, title, level = 'medium', id, name } = document;
  return {
    id: id === '' ? name : id,
    kind,
    title,
    source,
    enabled: true,
    severity: level,
    riskScore: 50,
    suppression: null,
    exceptions: [],
    anySource: false,
    ...more,
  };
};

/** A rule as the store returns it after its creation. */
export const stored = (rule: DetectionRule & { readonly id: string }, version = 1): StoredDetectionRule => ({
  ...rule,
  version,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
});

const rule = (name: string, detection: string): string => `title: ${name}
name: ${name}
logsource: { category: application }
level: low
tags: [attack.execution, attack.t1059.001]
detection:
${detection}
`;
const correlation = (name: string, fields: string): string => `title: ${name}
name: ${name}
level: high
correlation:
${fields}
`;

/** Rules that match bodies of services, such as \`payment failed 17 order\`. */
export const ruleTexts = {
  failed: rule('failed', '  selection: { body|contains: failed }\n  condition: selection'),
  refused: rule('refused', '  selection: { body|contains: refused }\n  condition: selection'),
  payment: rule('payment', '  selection: { body|contains: payment }\n  condition: selection'),
  often: correlation(
    'often',
    '  type: event_count\n  rules: [failed]\n  group-by: [service.name]\n  timespan: 1m\n  condition: { gte: 3 }',
  ),
  seldom: correlation(
    'seldom',
    '  type: event_count\n  rules: [refused]\n  group-by: [service.name]\n  timespan: 30s\n  generate: true\n  condition: { lt: 3 }',
  ),
  both: correlation(
    'both',
    '  type: temporal\n  rules: [failed, refused]\n  group-by: [service.name]\n  timespan: 2m\n  generate: true',
  ),
  chain: correlation(
    'chain',
    '  type: temporal_ordered\n  rules: [often, payment]\n  group-by: [service.name]\n  timespan: 10m\n  generate: true',
  ),
} as const;

export const detectionRulesForTests: readonly (DetectionRule & { readonly id: string })[] = [
  ...Object.entries(ruleTexts)
    .filter(([name]) => name !== 'payment')
    .map(([, text]) => deployedRule(text)),
  deployedRule(ruleTexts.payment, { suppression: { by: ['service.name'], forSeconds: 20 } }),
];
