import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { WorkerRequester } from '../../../queries/worker.ts';
import { splitDocuments } from '../../../queries/yaml-documents.ts';
import type { CollectionDefinition } from '../../../schemas/ports/documents.ts';
import {
  DetectionRule,
  detectionRules,
  RuleException,
  RuleSuppression,
} from '../../../schemas/resources/detection-rule.ts';
import { retroHunts } from '../../../schemas/resources/retro-hunt.ts';
import { type SignalSeverity, signalSeverities } from '../../../schemas/signals.ts';
import { findExceptionError, parseDocuments } from '../../../subjects/detections/deployment.ts';
import { readDisabledRules } from '../../../subjects/detections/disabled-rules.ts';
import { formatSigmaError, type SigmaDocument, type SigmaLevel } from '../../../subjects/detections/documents.ts';
import { findMissingRules } from '../../../subjects/detections/named-rules.ts';
import { maxRuleCharacters, readRulesInWorker } from '../../../subjects/detections/read.ts';
import { createHunt } from '../../../subjects/detections/retro-hunt.ts';
import { RuleTests, runTests } from '../../../subjects/detections/rule-tests.ts';
import { countSuppressed } from '../../../subjects/detections/stored-signals.ts';
import { defaultTelemetryDays, findRuleTelemetry, RuleTelemetry } from '../../../subjects/detections/telemetry.ts';
import { createFieldError, createFieldErrors } from '../../errors.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { type ResourceDefinition, storedView } from '../../resources/resource-spec.ts';
import { readRuleTelemetry } from './telemetry.ts';

/** Default risk of a signal, by the level of the rule. */
const defaultRiskScores: Readonly<Record<SignalSeverity, number>> = {
  informational: 5,
  low: 20,
  medium: 45,
  high: 75,
  critical: 95,
};

/** Fields of a rule that callers can write. */
const RuleFields = z.strictObject({
  note: z.string().max(4096).default('').describe('Note of the team'),
  source: z
    .string()
    .min(1)
    .max(maxRuleCharacters)
    .describe('One Sigma document, as YAML: a rule, a correlation or a filter'),
  enabled: z.boolean().default(true),
  scope: z
    .string()
    .max(128)
    .default('')
    .describe('Owner, such as a folder that a pipeline deploys: imports of this scope may delete the rule'),
  risk: z
    .number()
    .min(0)
    .max(100)
    .nullable()
    .default(null)
    .describe('Risk of its signals, from 0 to 100; null: derived from its level'),
  suppression: RuleSuppression.nullable()
    .default(null)
    .describe('Signals with equal values in these fields count as one, for a time'),
  exceptions: z.array(RuleException).max(100).default([]),
  anySource: z
    .boolean()
    .default(false)
    .describe('Whether it also matches records of unknown log sources by keywords alone, or without any of its fields'),
  tests: RuleTests.default({ mustMatch: [], mustNotMatch: [] }).describe('Run before the rule is saved'),
  mayFailTests: z.boolean().default(false).describe('Whether it is saved even if its tests fail'),
});
export type RuleFields = z.output<typeof RuleFields>;

/** A stored rule */
export type RuleDocument = DetectionRule & RuleFields;
type Document = RuleDocument;

/** Returns the fields that callers can write, with defaults for all except the source. */
export const parseRuleFields = (input: z.input<typeof RuleFields>): RuleFields => RuleFields.parse(input);

export const RuleView = z.strictObject({
  ...RuleFields.shape,
  ...DetectionRule.shape,
  ...storedView,
  level: z.enum(signalSeverities),
  status: z.string().nullable(),
  tags: z.array(z.string()),
  logsource: z.record(z.string(), z.string()).nullable().describe('Log source of a rule or filter'),
  description: z.string(),
  telemetry: RuleTelemetry.describe(`Whether the required records arrived in the last ${defaultTelemetryDays} days`),
  unknownRules: z.array(z.string()).describe('For a correlation or filter: referenced rules that are disabled'),
  switchedOff: z
    .strictObject({
      at: z.iso.datetime(),
      reason: z.enum(['too-slow']),
      partitions: z.int().describe('Number of stream partitions that no longer evaluate it'),
    })
    .nullable()
    .describe('Set if its evaluation took too long; the next change of the rule enables it again'),
  hidden: z
    .int()
    .nullable()
    .describe(
      `Reported number of signals that its suppression hid in the last ${defaultTelemetryDays} days; null without suppression`,
    ),
});

/** Parses a text with exactly one document; errors contain the line and the field. */
const parseSingleDocument = async (reader: WorkerRequester, source: string): Promise<SigmaDocument> => {
  if (splitDocuments(source).length > 1)
    throw createFieldError('source', 'contains several documents: import them with POST /api/siem/rules/import');
  const [{ documents, errors } = { documents: [], errors: [] }] = await readRulesInWorker(reader, [source]);
  if (errors.length > 0)
    throw createFieldErrors(errors.map((error) => ({ path: 'source', message: formatSigmaError(error) })));
  const [document] = documents;
  if (document === undefined) throw createFieldError('source', 'contains no document');
  return document;
};

/** Severity of a rule without a level. */
const defaultLevel: SigmaLevel = 'medium';

/** Derived fields that are stored with a rule. */
export const deriveFields = (document: SigmaDocument, risk: number | null) => {
  const severity = document.level ?? defaultLevel;
  return { kind: document.kind, title: document.title, severity, riskScore: risk ?? defaultRiskScores[severity] };
};

/** Throws if an exception is invalid, or cannot apply to this kind of document. */
const requireValidExceptions = ({ kind }: SigmaDocument, { exceptions }: RuleFields): void => {
  if (exceptions.length > 0 && kind !== 'rule')
    throw createFieldError(
      'exceptions',
      `apply to rules only, but this is a ${kind}: add them to the rules that it references`,
    );
  const ids = exceptions.map(({ id }) => id);
  const problems = exceptions.flatMap((exception, index) => {
    const path = `exceptions.${index}`;
    if (ids.indexOf(exception.id) < index)
      return [{ path: `${path}.id`, message: 'is already the id of another exception' }];
    const error = findExceptionError(exception);
    return error === undefined ? [] : [{ path: `${path}.${error.path}`, message: error.message }];
  });
  if (problems.length > 0) throw createFieldErrors(problems);
};

/** Rejects failing tests, with their path in the body. */
const requirePassingTests = async (
  document: SigmaDocument,
  { tests, mayFailTests, anySource }: RuleFields,
  tenantDocuments: Parameters<typeof runTests>[2],
): Promise<void> => {
  const failedTests = mayFailTests ? [] : await runTests({ document, anySource }, tests, tenantDocuments);
  if (failedTests.length > 0) throw createFieldErrors(failedTests);
};

/** The definition of detection rules, without the place where they are served. */
export const ruleDefinition: Omit<
  ResourceDefinition<typeof RuleFields, Document, typeof RuleView>,
  'noun' | 'path' | 'verbs' | 'entitlement'
> = {
  collection: detectionRules as CollectionDefinition<object> as CollectionDefinition<Document>,
  roles: { read: 'viewer', write: 'editor' },
  fields: RuleFields,
  example: {
    note: 'Unchanged from the public rules',
    source: [
      'title: Discovery of who is signed in',
      'status: test',
      'level: low',
      'logsource:',
      '  category: process_creation',
      '  product: windows',
      'detection:',
      '  selection:',
      "    Image|endswith: '\\whoami.exe'",
      '  condition: selection',
      'tags: [attack.discovery, attack.t1033]',
    ].join('\n'),
    tests: { mustMatch: [{ EventID: 1, Image: 'C:\\Windows\\System32\\whoami.exe' }], mustNotMatch: [] },
  },
  view: RuleView,
  maxBodyBytes: 8_000_000,
  nameOf: ({ title }) => title,
  initial: () => ({ kind: 'rule' as const, title: '', severity: defaultLevel, riskScore: 0 }),
  async complete(after, { before, caller, signal, ports }) {
    const reader = { tenantId: caller.tenantId, callerId: caller.actor.id, signal };
    const document = await parseSingleDocument(reader, after.source);
    if (before !== undefined && document.id !== '' && document.id !== before.id)
      throw createFieldError('source', `has the id ${document.id}, but this rule is ${before.id}`);
    requireValidExceptions(document, after);
    await requirePassingTests(document, after, ports.documents.forTenant(caller.tenantId));
    const completedRule = { ...after, ...deriveFields(document, after.risk) };
    // Correlations and pipelines reference the rule by its own id.
    const id = before?.id ?? (document.id === '' ? randomUUID() : document.id);
    const isNewlyEnabled = after.enabled && before?.enabled !== true && document.kind !== 'filter';
    return {
      document: before === undefined ? Object.assign(completedRule, { id }) : completedRule,
      async writeRelated(forTenant) {
        if (!isNewlyEnabled) return;
        const hunt = createHunt([id], ports.clock.now());
        await forTenant(caller.tenantId).collection(retroHunts).insert(hunt);
      },
    };
  },
  live: true,
  async show(documents, context) {
    const reader = createQueryReader(context.caller, context.ports);
    const suppressingIds = documents.filter(({ suppression }) => suppression !== null).map(({ id }) => id);
    const [{ tables, telemetry }, switchedOffRules, suppressedCounts] = await Promise.all([
      readRuleTelemetry(context),
      readDisabledRules(reader, documents),
      countSuppressed(reader, suppressingIds, reader.nowMs - defaultTelemetryDays * 86_400_000),
    ]);
    const parsedDocuments = await parseDocuments(
      context.caller,
      documents.map(({ source }) => source),
    );
    const readableDocuments = parsedDocuments.filter((document) => typeof document !== 'string');
    const getMissingRules = await findMissingRules(
      readableDocuments,
      [],
      context.ports.documents.forTenant(context.caller.tenantId),
    );
    return documents.map((rule, index) => {
      const parseResult = parsedDocuments[index];
      const document = typeof parseResult === 'string' ? undefined : parseResult;
      const switchedOff = switchedOffRules.get(rule.id);
      return {
        ...rule,
        level: rule.severity,
        status: document?.status ?? null,
        tags: [...(document?.tags ?? [])],
        logsource:
          document === undefined || document.kind === 'correlation'
            ? null
            : ({ ...document.logsource } as Record<string, string>),
        description: document?.description ?? '',
        telemetry:
          document === undefined
            ? { isSeen: null, reason: 'the rule cannot be read', lastSeen: null, missingFields: [] }
            : findRuleTelemetry(document, tables, telemetry),
        unknownRules: document === undefined ? [] : getMissingRules(document),
        switchedOff: switchedOff === undefined ? null : { ...switchedOff, reason: 'too-slow' as const },
        hidden: suppressedCounts.get(rule.id) ?? null,
      };
    });
  },
  list: {
    searched: ['title', 'note', 'source'],
    sorts: ['title', 'createdAt', 'updatedAt', 'severity'],
    filters: {
      severity: createEqualsFilter('severity', z.enum(signalSeverities)),
      scope: createEqualsFilter('scope'),
      kind: createEqualsFilter('kind', z.enum(['rule', 'correlation', 'filter'])),
      enabled: {
        schema: z.enum(['true', 'false']).optional(),
        where: (value) => ({ enabled: value === 'true' }),
      },
    },
  },
};

export const ruleResource = defineResource<typeof RuleFields, Document, typeof RuleView>({
  ...ruleDefinition,
  noun: 'detection rule',
  path: '/api/siem/rules',
  verbs: ['list', 'create', 'read', 'replace', 'patch', 'delete'],
  entitlement: 'siem',
});
