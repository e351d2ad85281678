import { randomUUID } from 'node:crypto';
import { z } from 'zod';
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
import { exceptionError, parseDocuments } from '../../../subjects/detections/deployed.ts';
import { formatSigmaError, type SigmaDocument, type SigmaLevel } from '../../../subjects/detections/documents.ts';
import { missingRules } from '../../../subjects/detections/named-rules.ts';
import { maxRuleCharacters, readRulesInWorker } from '../../../subjects/detections/read.ts';
import { newHunt } from '../../../subjects/detections/retro-hunt.ts';
import { failedTests, RuleTests } from '../../../subjects/detections/rule-tests.ts';
import { countHidden } from '../../../subjects/detections/stored-signals.ts';
import { readSwitchedOff } from '../../../subjects/detections/switched-off.ts';
import { defaultTelemetryDays, RuleTelemetry, telemetryOf } from '../../../subjects/detections/telemetry.ts';
import { invalid, invalidFields } from '../../errors.ts';
import { readingOf } from '../../kernel/reading.ts';
import { defineResource } from '../../resources/resource.ts';
import { equals } from '../../resources/resource-list.ts';
import { storedView } from '../../resources/resource-spec.ts';
import { sentBy } from './telemetry.ts';

/** Default risk of a signal, by the level of the rule. */
const riskOf: Readonly<Record<SignalSeverity, number>> = {
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

/** The written fields of a rule, with defaults for all except its source. */
export const ruleFields = (given: z.input<typeof RuleFields>): RuleFields => RuleFields.parse(given);

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
    .describe('Set after its evaluation took too long; the next change of the rule enables it again'),
  hidden: z
    .int()
    .nullable()
    .describe(
      `Signals that its suppression hid in the last ${defaultTelemetryDays} days, as far as reported; null: it has no suppression`,
    ),
});

/** Parses the only document in a text; an error names line and field. */
const documentOf = async (tenantId: string, source: string): Promise<SigmaDocument> => {
  if (splitDocuments(source).length > 1)
    throw invalid('source', 'contains several documents: import them with POST /api/siem/rules/import');
  const [{ documents, errors } = { documents: [], errors: [] }] = await readRulesInWorker({ tenantId }, [source]);
  if (errors.length > 0)
    throw invalidFields(errors.map((error) => ({ path: 'source', message: formatSigmaError(error) })));
  const [document] = documents;
  if (document === undefined) throw invalid('source', 'contains no document');
  return document;
};

/** Severity of a rule without a level. */
const defaultLevel: SigmaLevel = 'medium';

/** Derived fields that are stored with a rule. */
export const derived = (document: SigmaDocument, risk: number | null) => {
  const severity = document.level ?? defaultLevel;
  return { kind: document.kind, title: document.title, severity, riskScore: risk ?? riskOf[severity] };
};

/** Rejects exceptions that could never cover anything. */
const refuseExceptions = ({ kind }: SigmaDocument, { exceptions }: RuleFields): void => {
  if (exceptions.length > 0 && kind !== 'rule')
    throw invalid('exceptions', `apply to rules only, and this is a ${kind}: add them to the rules that it names`);
  const ids = exceptions.map(({ id }) => id);
  const wrong = exceptions.flatMap((exception, index) => {
    const path = `exceptions.${index}`;
    if (ids.indexOf(exception.id) < index)
      return [{ path: `${path}.id`, message: 'is already the id of another exception' }];
    const error = exceptionError(exception);
    return error === undefined ? [] : [{ path: `${path}.${error.path}`, message: error.message }];
  });
  if (wrong.length > 0) throw invalidFields(wrong);
};

/** Rejects failing tests, with their path in the body. */
const refuseFailing = async (
  document: SigmaDocument,
  { tests, mayFailTests, anySource }: RuleFields,
  own: Parameters<typeof failedTests>[2],
): Promise<void> => {
  const failed = mayFailTests ? [] : await failedTests({ document, anySource }, tests, own);
  if (failed.length > 0) throw invalidFields(failed);
};

export const ruleResource = defineResource<typeof RuleFields, Document, typeof RuleView>({
  noun: 'detection rule',
  path: '/api/siem/rules',
  collection: detectionRules as CollectionDefinition<object> as CollectionDefinition<Document>,
  verbs: ['list', 'create', 'read', 'replace', 'patch', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  entitlement: 'siem',
  fields: RuleFields,
  example: {
    note: 'From the public rules, as they are',
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
  async prepare(after, { before, caller, of, ports }) {
    const document = await documentOf(caller.tenantId, after.source);
    if (before !== undefined && document.id !== '' && document.id !== before.id)
      throw invalid('source', `has the id ${document.id}, but this rule is ${before.id}`);
    refuseExceptions(document, after);
    await refuseFailing(document, after, of(caller.tenantId));
    const prepared = { ...after, ...derived(document, after.risk) };
    // Correlations and pipelines reference the rule by its own id.
    const id = before?.id ?? (document.id === '' ? randomUUID() : document.id);
    if (after.enabled && before?.enabled !== true && document.kind !== 'filter')
      await of(caller.tenantId)
        .collection(retroHunts)
        .insert(newHunt([id], ports.clock.now()));
    return before === undefined ? Object.assign(prepared, { id }) : prepared;
  },
  live: true,
  async show(documents, context) {
    const reading = readingOf(context.caller, context.ports);
    const hiding = documents.filter(({ suppression }) => suppression !== null).map(({ id }) => id);
    const [{ tables, telemetry }, off, hidden] = await Promise.all([
      sentBy(context),
      readSwitchedOff(reading, documents),
      countHidden(reading, hiding, reading.nowMs - defaultTelemetryDays * 86_400_000),
    ]);
    const read = await parseDocuments(
      context.caller,
      documents.map(({ source }) => source),
    );
    const readable = read.filter((document) => typeof document !== 'string');
    const missing = await missingRules(readable, [], context.ports.documents.of(context.caller.tenantId));
    return documents.map((stored, index) => {
      const found = read[index];
      const document = typeof found === 'string' ? undefined : found;
      const switchedOff = off.get(stored.id);
      return {
        ...stored,
        level: stored.severity,
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
            : telemetryOf(document, tables, telemetry),
        unknownRules: document === undefined ? [] : missing(document),
        switchedOff: switchedOff === undefined ? null : { ...switchedOff, reason: 'too-slow' as const },
        hidden: hidden.get(stored.id) ?? null,
      };
    });
  },
  list: {
    searched: ['title', 'note', 'source'],
    sorts: ['title', 'createdAt', 'updatedAt', 'severity'],
    filters: {
      severity: equals('severity', z.enum(signalSeverities)),
      scope: equals('scope'),
      kind: equals('kind', z.enum(['rule', 'correlation', 'filter'])),
      enabled: {
        schema: z.enum(['true', 'false']).optional(),
        where: (value) => ({ enabled: value === 'true' }),
      },
    },
  },
});
