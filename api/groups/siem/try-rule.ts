import { z } from 'zod';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { detectionPlaceholders, detectionRules } from '../../../schemas/resources/detection-rule.ts';
import { parseDocuments } from '../../../subjects/detections/deployment.ts';
import { findMissingRules } from '../../../subjects/detections/named-rules.ts';
import { readRulesInWorker } from '../../../subjects/detections/read.ts';
import { getRequirements } from '../../../subjects/detections/rule-set.ts';
import { findMatches, TestEvent } from '../../../subjects/detections/rule-tests.ts';
import {
  defaultTelemetryDays,
  findRuleTelemetry,
  listTablesFor,
  RuleTelemetry,
} from '../../../subjects/detections/telemetry.ts';
import { findWarnings } from '../../../subjects/detections/warnings.ts';
import { ApiError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { readRuleTelemetry } from './telemetry.ts';

export const testDetectionRule = defineOperation({
  method: 'POST',
  path: '/api/siem/rules/{id}/test',
  operationId: 'testDetectionRule',
  summary: 'Run a rule over sample events',
  role: 'editor',
  auditExemption: 'read-only',
  params: idParameter,
  body: z.strictObject({ events: z.array(TestEvent).max(1000).describe('As logged by their source') }),
  response: z.strictObject({
    matches: z.array(
      z.strictObject({
        event: z.int().describe('Index in `events`, from 0'),
        fields: z.array(
          z.strictObject({
            field: z.string().describe('Field name in the rule; empty for keywords'),
            path: z.string().describe('Field name in the event'),
            value: z.string(),
            selection: z.string(),
            condition: z.string().describe('Condition as written in the rule'),
          }),
        ),
      }),
    ),
  }),
  async handler({ caller, params, body }, { documents }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    const rule = await tenantDocuments.collection(detectionRules).find(params.id);
    if (rule === undefined) throw createNotFoundError('detection rule');
    const [document] = await parseDocuments(tenantDocuments, [rule.source]);
    if (typeof document !== 'object' || document.kind !== 'rule')
      throw new ApiError('CONFLICT', `this is a ${rule.kind}: only rules can run on single events`);
    const matches = await findMatches({ document, anySource: rule.anySource }, body.events, tenantDocuments);
    return {
      matches: matches.flatMap((match, event) => (match === undefined ? [] : [{ event, fields: [...match.fields] }])),
    };
  },
});

const readPlaceholderNames = async (tenantDocuments: TenantDocuments): Promise<ReadonlySet<string>> => {
  const names = new Set<string>();
  for await (const { name } of iterateDocuments(tenantDocuments.collection(detectionPlaceholders), {})) names.add(name);
  return names;
};

export const validateDetectionRules = defineOperation({
  method: 'POST',
  path: '/api/siem/rules/validate',
  operationId: 'validateDetectionRules',
  summary:
    'Parse and compile Sigma documents without saving them: errors with their positions, and the requirements of each',
  role: 'editor',
  auditExemption: 'read-only',
  maxBodyBytes: 16_000_000,
  body: z.strictObject({
    source: z.string().min(1).max(4_000_000).describe('YAML with one or more documents'),
    telemetryDays: z
      .int()
      .min(1)
      .max(90)
      .default(defaultTelemetryDays)
      .describe('Number of days to check for telemetry'),
  }),
  response: z.strictObject({
    isValid: z.boolean(),
    errors: z.array(
      z.strictObject({
        document: z.int().describe('Position in the text, from 1'),
        title: z.string(),
        line: z.int(),
        field: z.string(),
        message: z.string(),
      }),
    ),
    documents: z.array(
      z.strictObject({
        document: z.int(),
        id: z.string().describe('Empty if it has none'),
        title: z.string(),
        kind: z.enum(['rule', 'correlation', 'filter']),
        logsource: z.record(z.string(), z.string()).nullable(),
        fields: z
          .array(z.strictObject({ field: z.string(), names: z.array(z.string()) }))
          .describe('Fields in its conditions, each with the possible names in events'),
        tables: z.array(z.string()).describe('Field tables that map events for the document'),
        telemetry: RuleTelemetry.describe('Whether the organization sends the required telemetry'),
        placeholders: z.array(z.string()),
        unknownPlaceholders: z.array(z.string()).describe('Placeholders without a value: no event can match them'),
        rules: z.array(z.string()).describe('For a correlation or filter: the referenced rules'),
        unknownRules: z.array(z.string()).describe('Referenced rules that are neither enabled nor in this text'),
        warnings: z.array(z.string()).describe('Warnings about settings that are valid but probably not intended'),
      }),
    ),
  }),
  async handler({ caller, body, signal }, ports) {
    const reader = { tenantId: caller.tenantId, callerId: caller.actor.id, signal };
    const [{ documents, errors } = { documents: [], errors: [] }] = await readRulesInWorker(reader, [body.source]);
    const tenantDocuments = ports.documents.forTenant(caller.tenantId);
    const [{ tables, telemetry }, knownPlaceholders, getMissingRules] = await Promise.all([
      readRuleTelemetry({ caller, ports }, body.telemetryDays),
      readPlaceholderNames(tenantDocuments),
      findMissingRules(documents, documents, tenantDocuments),
    ]);
    return {
      isValid: errors.length === 0,
      errors: errors.map(({ document, title, line, field, message }) => ({ document, title, line, field, message })),
      documents: documents.map((document) => {
        const { id, title, kind } = document;
        const requirements = kind === 'correlation' ? undefined : getRequirements(document, tables);
        return {
          document: document.document,
          id,
          title,
          kind,
          logsource: requirements === undefined ? null : { ...(requirements.logsource as Record<string, string>) },
          fields: requirements?.fields.map(({ field, names }) => ({ field, names: [...names] })) ?? [],
          tables: requirements === undefined ? [] : listTablesFor(requirements.logsource, tables),
          telemetry: findRuleTelemetry(document, tables, telemetry),
          placeholders: [...(requirements?.placeholders ?? [])],
          unknownPlaceholders: requirements?.placeholders.filter((name) => !knownPlaceholders.has(name)) ?? [],
          rules: kind === 'rule' || document.rules === 'any' ? [] : [...document.rules],
          unknownRules: getMissingRules(document),
          warnings: findWarnings(document, tables),
        };
      }),
    };
  },
});
