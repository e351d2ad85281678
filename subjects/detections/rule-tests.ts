/** Test events that a rule must or must not match; they run before the rule is saved */
import { z } from 'zod';
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { CollectionDefinition, Filter, StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import { detectionFields, detectionPlaceholders, detectionRules } from '../../schemas/resources/detection-rule.ts';
import { type DeploymentSource, type StoredRule, toFieldTable } from './deployment.ts';
import type { SigmaDocument } from './documents.ts';
import { mergeTables } from './fields/index.ts';
import type { FieldTable } from './fields/table.ts';
import type { EventMatch } from './rule-messages.ts';
import { RuleThreads } from './rule-threads.ts';

const isWrapped = (event: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(event).length === 2 && typeof event['name'] === 'string' && typeof event['event'] === 'object';

/** An event as its source logs it */
export const TestEvent = z
  .record(z.string(), z.unknown())
  .refine((event) => !isWrapped(event), 'is an event in { name, event }: pass the event itself, as its source logs it')
  .refine((event) => Object.keys(event).length > 0, 'is an event without any field');

export const RuleTests = z.strictObject({
  mustMatch: z.array(TestEvent).max(100).default([]),
  mustNotMatch: z.array(TestEvent).max(100).default([]),
});
export type RuleTests = z.output<typeof RuleTests>;

/** The organization whose filters, tables and placeholders apply to the test */
type TestTenant = Pick<TenantDocuments, 'collection' | 'tenantId'>;

/** Returns all documents of a collection. */
const readAll = async <Fields extends object>(
  tenantDocuments: Pick<TenantDocuments, 'collection'>,
  definition: CollectionDefinition<Fields>,
  filter: Filter = {},
): Promise<(Fields & StoredMetadata)[]> => {
  const foundDocuments: (Fields & StoredMetadata)[] = [];
  for await (const document of iterateDocuments(tenantDocuments.collection(definition), { filter }))
    foundDocuments.push(document);
  return foundDocuments;
};

/** Returns the built-in field tables and those of the organization. */
export const readTables = async (
  tenantDocuments: Pick<TenantDocuments, 'collection'>,
): Promise<readonly FieldTable[]> => mergeTables((await readAll(tenantDocuments, detectionFields)).map(toFieldTable));

const defaultTestId = 'tested';

/** Returns rules to deploy, with the tables and placeholders of the organization. */
export const createDeploymentSource = async (
  rules: readonly StoredRule[],
  tenantDocuments: Pick<TenantDocuments, 'collection'>,
): Promise<DeploymentSource> => {
  const [fields, placeholders] = await Promise.all([
    readAll(tenantDocuments, detectionFields),
    readAll(tenantDocuments, detectionPlaceholders),
  ]);
  return { rules, fields, placeholders };
};

/**
 * Returns one rule to deploy, with the filters, tables and placeholders of the organization. A correlation is returned
 * with all enabled rules, because it may reference any of them.
 */
export const createRuleDeploymentSource = async (
  rule: StoredRule,
  tenantDocuments: Pick<TenantDocuments, 'collection'>,
): Promise<DeploymentSource> => {
  const filter = rule.kind === 'correlation' ? { enabled: true } : { kind: 'filter', enabled: true };
  const otherRules = await readAll(tenantDocuments, detectionRules, filter);
  const siblings = otherRules.filter(({ id }) => id !== rule.id);
  return createDeploymentSource([...siblings, { ...rule, enabled: true }], tenantDocuments);
};

/** Separate from the threads of retro hunts, because users wait for tests of a few events. */
const testThreads = new RuleThreads();
const testBudgetMs = 10_000;

/** A rule to test, as it would be stored */
export interface TestedRule {
  readonly document: SigmaDocument;
  readonly anySource: boolean;
}

/**
 * Returns the matches of a rule in the given events. Correlations evaluate several records over time and match no
 * single event.
 */
export const findMatches = async (
  { document, anySource }: TestedRule,
  events: readonly Readonly<Record<string, unknown>>[],
  tenantDocuments: TestTenant,
): Promise<(EventMatch | undefined)[]> => {
  const now = new Date(0).toISOString();
  const testRule = {
    id: document.id === '' ? defaultTestId : document.id,
    version: 1,
    createdAt: now,
    updatedAt: now,
    kind: document.kind,
    title: document.title,
    source: document.source,
    enabled: true,
    severity: 'medium' as const,
    riskScore: 0,
    suppression: null,
    exceptions: [],
    anySource,
  };
  const run = { tenantId: tenantDocuments.tenantId, nowMs: 0, budgetMs: testBudgetMs };
  const matches = await testThreads.run(await createRuleDeploymentSource(testRule, tenantDocuments), run, (rules) =>
    rules.findMatches(events.map((event) => ({ body: event, attributes: [], resource: [] }))),
  );
  return matches.map((eventMatches) => eventMatches.find(({ ruleId }) => ruleId === testRule.id));
};

/** Message for an event that the rule would match if the log source were known. */
const unknownSourceMessage =
  'the rule does not match this event: the event does not identify its log source and has no field that the rule names; declare the events of the log source in a field table, or set anySource';

/** Returns failed tests, with their path below `tests` and the actual result. */
export const runTests = async (
  rule: TestedRule,
  { mustMatch, mustNotMatch }: RuleTests,
  tenantDocuments: TestTenant,
): Promise<{ path: string; message: string }[]> => {
  if (mustMatch.length + mustNotMatch.length === 0) return [];
  const { kind } = rule.document;
  if (kind !== 'rule') return [{ path: 'tests', message: `are allowed for rules only: this is a ${kind}` }];
  const [expectedMatches, unexpectedMatches] = await Promise.all([
    findMatches(rule, mustMatch, tenantDocuments),
    findMatches(rule, mustNotMatch, tenantDocuments),
  ]);
  const anySourceMatches = expectedMatches.includes(undefined)
    ? await findMatches({ ...rule, anySource: true }, mustMatch, tenantDocuments)
    : [];
  return [
    ...expectedMatches.flatMap((match, index) => {
      const message =
        anySourceMatches[index] === undefined ? 'the rule does not match this event' : unknownSourceMessage;
      return match === undefined ? [{ path: `tests.mustMatch.${index}`, message }] : [];
    }),
    ...unexpectedMatches.flatMap((match, index) =>
      match === undefined
        ? []
        : [
            {
              path: `tests.mustNotMatch.${index}`,
              message: `the rule matches this event: ${match.fields.map(({ field, value }) => `${field} is ${value}`).join(', ')}`,
            },
          ],
    ),
  ];
};
