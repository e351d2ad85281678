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
import { documentsOf, exceptionError } from '../../../subjects/detections/deployed.ts';
import { faultText, type SigmaDocument, type SigmaLevel } from '../../../subjects/detections/documents.ts';
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

/** Risk of a signal where a rule says no more, by the rule's level. */
const riskOf: Readonly<Record<SignalSeverity, number>> = {
  informational: 5,
  low: 20,
  medium: 45,
  high: 75,
  critical: 95,
};

/** What callers write of a rule. */
const RuleFields = z.strictObject({
  note: z.string().max(4096).default('').describe('What the team has to say about it'),
  source: z
    .string()
    .min(1)
    .max(maxRuleCharacters)
    .describe('One document of Sigma, as YAML: a rule, a correlation or a filter'),
  enabled: z.boolean().default(true),
  scope: z
    .string()
    .max(128)
    .default('')
    .describe('What owns it, such as a folder that a pipeline deploys: imports of this scope may delete it'),
  risk: z
    .number()
    .min(0)
    .max(100)
    .nullable()
    .default(null)
    .describe('Risk of its signals, from 0 to 100; null: by its level'),
  suppression: RuleSuppression.nullable()
    .default(null)
    .describe('Signals with equal values in these fields are one, for a time'),
  exceptions: z.array(RuleException).max(100).default([]),
  anySource: z
    .boolean()
    .default(false)
    .describe(
      'It also matches records of unknown log sources by keywords alone, or with none of the fields that it names',
    ),
  tests: RuleTests.default({ mustMatch: [], mustNotMatch: [] }).describe('Run before it is saved'),
  mayFailTests: z.boolean().default(false).describe('It is saved although its tests fail'),
});
export type RuleFields = z.output<typeof RuleFields>;

/** A rule as it is stored. */
export type RuleDocument = DetectionRule & RuleFields;
type Document = RuleDocument;

/** What is written of a rule, with a default for everything but its source. */
export const ruleFields = (given: z.input<typeof RuleFields>): RuleFields => RuleFields.parse(given);

export const RuleView = z.strictObject({
  ...RuleFields.shape,
  ...DetectionRule.shape,
  ...storedView,
  level: z.enum(signalSeverities),
  status: z.string().nullable(),
  tags: z.array(z.string()),
  logsource: z.record(z.string(), z.string()).nullable().describe('Of a rule or filter'),
  description: z.string(),
  telemetry: RuleTelemetry.describe(`Whether records that it needs came in the last ${defaultTelemetryDays} days`),
  unknownRules: z
    .array(z.string())
    .describe('Of a correlation or filter: rules that it names and that are not enabled'),
  switchedOff: z
    .strictObject({
      at: z.iso.datetime(),
      reason: z.enum(['too-slow']),
      partitions: z.int().describe('Partitions of the stream that no longer ask it'),
    })
    .nullable()
    .describe('Where it took too long over records: it is asked again once it is changed'),
  hidden: z
    .int()
    .nullable()
    .describe(
      `Signals that its suppression hid in the last ${defaultTelemetryDays} days, as far as they were told; null: it has none`,
    ),
});

/** The one document of a text; what is wrong with it is named by line and field. */
const documentOf = async (tenantId: string, source: string): Promise<SigmaDocument> => {
  if (splitDocuments(source).length > 1)
    throw invalid('source', 'holds several documents: POST /api/siem/rules/import takes many at once');
  const [{ documents, errors } = { documents: [], errors: [] }] = await readRulesInWorker({ tenantId }, [source]);
  if (errors.length > 0) throw invalidFields(errors.map((error) => ({ path: 'source', message: faultText(error) })));
  const [document] = documents;
  if (document === undefined) throw invalid('source', 'holds no document');
  return document;
};

/** Severity of a rule without a level. */
const defaultLevel: SigmaLevel = 'medium';

/** What is stored of a rule beside what was written. */
export const derived = (document: SigmaDocument, risk: number | null) => {
  const severity = document.level ?? defaultLevel;
  return { kind: document.kind, title: document.title, severity, riskScore: risk ?? riskOf[severity] };
};

/** Exceptions that could never cover anything. */
const refuseExceptions = ({ kind }: SigmaDocument, { exceptions }: RuleFields): void => {
  if (exceptions.length > 0 && kind !== 'rule')
    throw invalid('exceptions', `are of rules alone, and this is a ${kind}: give them to the rules that it names`);
  const ids = exceptions.map(({ id }) => id);
  const wrong = exceptions.flatMap((exception, index) => {
    const path = `exceptions.${index}`;
    if (ids.indexOf(exception.id) < index) return [{ path: `${path}.id`, message: 'is that of another exception' }];
    const error = exceptionError(exception);
    return error === undefined ? [] : [{ path: `${path}.${error.path}`, message: error.message }];
  });
  if (wrong.length > 0) throw invalidFields(wrong);
};

/** Tests that fail, by their path in the body. */
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
    // Its own id is what correlations and pipelines know it by.
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
    const read = await documentsOf(
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
