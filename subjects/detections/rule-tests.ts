/** Events that a rule must match, or must not: they are run before it is saved. */
import { z } from 'zod';
import { documentsIn } from '../../runtime/documents-in.ts';
import type { CollectionDefinition, Filter, Stored, TenantDocuments } from '../../schemas/ports/documents.ts';
import { detectionFields, detectionPlaceholders, detectionRules } from '../../schemas/resources/detection-rule.ts';
import { ownTable, type StoredRule, type ToDeploy } from './deployed.ts';
import type { SigmaDocument } from './documents.ts';
import { withOwnTables } from './fields/index.ts';
import type { FieldTable } from './fields/table.ts';
import { type EventMatch, RuleThreads } from './rule-threads.ts';

const isWrapped = (event: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(event).length === 2 && typeof event['name'] === 'string' && typeof event['event'] === 'object';

/** An event as its source logs it. */
export const TestEvent = z
  .record(z.string(), z.unknown())
  .refine((event) => !isWrapped(event), 'is an event in { name, event }: give the event itself, as its source logs it')
  .refine((event) => Object.keys(event).length > 0, 'is an event without any field');

export const RuleTests = z.strictObject({
  mustMatch: z.array(TestEvent).max(100).default([]),
  mustNotMatch: z.array(TestEvent).max(100).default([]),
});
export type RuleTests = z.output<typeof RuleTests>;

/** The organization with whose filters, tables and placeholders a rule is tested. */
type TestedIn = Pick<TenantDocuments, 'collection' | 'tenantId'>;

/** All of a collection. */
const allOf = async <Fields extends object>(
  own: Pick<TenantDocuments, 'collection'>,
  definition: CollectionDefinition<Fields>,
  filter: Filter = {},
): Promise<(Fields & Stored)[]> => {
  const found: (Fields & Stored)[] = [];
  for await (const document of documentsIn(own.collection(definition), { filter })) found.push(document);
  return found;
};

/** The platform's tables of fields with the organization's own. */
export const ownTables = async (own: Pick<TenantDocuments, 'collection'>): Promise<readonly FieldTable[]> =>
  withOwnTables((await allOf(own, detectionFields)).map(ownTable));

const testedId = 'tested';

/** Rules to run, with the organization's tables and placeholders. */
export const toDeployOf = async (
  rules: readonly StoredRule[],
  own: Pick<TenantDocuments, 'collection'>,
): Promise<ToDeploy> => {
  const [fields, placeholders] = await Promise.all([allOf(own, detectionFields), allOf(own, detectionPlaceholders)]);
  return { rules, fields, placeholders };
};

/**
 * One rule to run, with the organization's filters, tables and placeholders; a correlation with all rules that are enabled, as any of
 * them may be one that it names.
 */
export const toDeployOfRule = async (rule: StoredRule, own: Pick<TenantDocuments, 'collection'>): Promise<ToDeploy> => {
  const filter = rule.kind === 'correlation' ? { enabled: true } : { kind: 'filter', enabled: true };
  const others = await allOf(own, detectionRules, filter);
  const siblings = others.filter(({ id }) => id !== rule.id);
  return toDeployOf([...siblings, { ...rule, enabled: true }], own);
};

/** Others than those of look backs: people wait for a test of some events. */
const testThreads = new RuleThreads();
const testBudgetMs = 10_000;

/** A rule to test, as it would be stored. */
export interface TestedRule {
  readonly document: SigmaDocument;
  readonly anySource: boolean;
}

/** What a rule matches of some events. Correlations look at several records over time, and match no event by itself. */
export const matchesOf = async (
  { document, anySource }: TestedRule,
  events: readonly Readonly<Record<string, unknown>>[],
  own: TestedIn,
): Promise<(EventMatch | undefined)[]> => {
  const now = new Date(0).toISOString();
  const tested = {
    id: document.id === '' ? testedId : document.id,
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
  const run = { tenantId: own.tenantId, nowMs: 0, budgetMs: testBudgetMs };
  const matches = await testThreads.run(await toDeployOfRule(tested, own), run, (rules) =>
    rules.matchesOf(events.map((event) => ({ body: event, attributes: [], resource: [] }))),
  );
  return matches.map((of) => of.find(({ ruleId }) => ruleId === tested.id));
};

/** Why a rule that would match an event, were its log source known, does not. */
const unknownSource =
  'the rule does not match this event: of its log source nothing is known of the event, and the event has no field that the rule names; say in a table of fields which events are of it, or set anySource';

/** Tests that fail, with their path below `tests` and what happened instead. */
export const failedTests = async (
  rule: TestedRule,
  { mustMatch, mustNotMatch }: RuleTests,
  own: TestedIn,
): Promise<{ path: string; message: string }[]> => {
  if (mustMatch.length + mustNotMatch.length === 0) return [];
  const { kind } = rule.document;
  if (kind !== 'rule') return [{ path: 'tests', message: `are of rules alone: this is a ${kind}` }];
  const [matching, others] = await Promise.all([matchesOf(rule, mustMatch, own), matchesOf(rule, mustNotMatch, own)]);
  const ofAny = matching.includes(undefined) ? await matchesOf({ ...rule, anySource: true }, mustMatch, own) : [];
  return [
    ...matching.flatMap((match, index) => {
      const message = ofAny[index] === undefined ? 'the rule does not match this event' : unknownSource;
      return match === undefined ? [{ path: `tests.mustMatch.${index}`, message }] : [];
    }),
    ...others.flatMap((match, index) =>
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
