import { z } from 'zod';
import { QueryError } from '../../../queries/errors.ts';
import { versions } from '../../../subjects/slos/openslo/indicators.ts';
import { type ParsedSlo, readOpenSloInWorker } from '../../../subjects/slos/openslo/read.ts';
import { writeOpenSlo } from '../../../subjects/slos/openslo/write.ts';
import { ApiError, createFieldError, createFieldErrors } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import {
  type ImportContext,
  ImportedResources,
  importBodyFields,
  importInBatches,
  importOutcomeFields,
} from '../../resources/import-by-name.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findSlo } from './find-slo.ts';
import { SloWarnings } from './measurement-fields.ts';
import { type SloDocument, sloResource, toSloDocument } from './slo.ts';
import { readSloWarnings } from './warnings.ts';

const example = `apiVersion: openslo/v1
kind: SLO
metadata:
  name: checkout
spec:
  service: checkout
  indicator:
    metadata:
      name: checkout
    spec:
      ratioMetric:
        counter: true
        good: { metricSource: { type: prometheus, spec: { query: 'sum(requests_ok_total)' } } }
        total: { metricSource: { type: prometheus, spec: { query: 'sum(requests_total)' } } }
  timeWindow:
    - duration: 30d
      isRolling: true
  budgetingMethod: Occurrences
  objectives:
    - target: 0.999
`;

const maxObjectives = 500;
const Outcome = z.strictObject({
  ...importOutcomeFields,
  problems: z
    .array(z.strictObject({ path: z.string(), message: z.string(), line: z.int() }))
    .describe('Why it was rejected'),
  warnings: SloWarnings,
});
type Outcome = z.input<typeof Outcome>;

const toProblems = (error: unknown, line: number): Outcome['problems'] => {
  if (error instanceof ApiError)
    return (error.details ?? [{ path: '', message: error.message }]).map(({ path, message }) => ({
      path,
      message,
      line,
    }));
  if (error instanceof QueryError) return [{ path: error.path ?? '', message: error.message, line }];
  throw error;
};

type ImportedSlos = ImportedResources<SloDocument, unknown>;

/** Creates or changes the SLO of a document. */
const importSlo = async (
  { document, line, slo, importedFrom }: ParsedSlo,
  {
    fileName,
    resources,
    ...importContext
  }: ImportContext & {
    readonly fileName: string;
    readonly resources: ImportedSlos;
  },
): Promise<Omit<Outcome, 'warnings'>> => {
  const base = { document, line, name: slo.name, problems: [] };
  try {
    const sloDocument = { ...toSloDocument(slo, importContext.caller), importedFrom: { ...importedFrom, fileName } };
    const { problem, ...result } = await resources.write(sloDocument, importContext);
    return { ...base, ...result, problems: problem === undefined ? [] : [{ path: 'name', message: problem, line }] };
  } catch (error) {
    return { ...base, outcome: 'refused', id: null, problems: toProblems(error, line) };
  }
};

export const importSlos = defineOperation({
  method: 'POST',
  path: '/api/slos/import',
  operationId: 'importSlos',
  summary: 'Import SLOs from OpenSLO, Sloth or Pyrra, with a result for each; a repeated import changes nothing',
  role: 'editor',
  audit: ['service-level-objective.create', 'service-level-objective.update'],
  // Larger than the limit of `source`, so that the error names this field.
  maxBodyBytes: 8 * 1024 * 1024,
  body: z.strictObject({
    source: z
      .string()
      .min(1)
      .max(900_000)
      .describe('YAML documents, which may refer to each other')
      .meta({ examples: [example] }),
    fileName: z
      .string()
      .max(256)
      .default('')
      .describe('Distinguishes files with equal names of SLOs: SLOs of another file are not changed'),
    ...importBodyFields,
  }),
  response: z.strictObject({ items: z.array(Outcome) }),
  async handler({ caller, body, change, signal }, ports) {
    const { slos, rejected } = await readOpenSloInWorker(
      { tenantId: caller.tenantId, callerId: caller.actor.id, signal },
      body.source,
    );
    if (slos.length > maxObjectives)
      throw createFieldError(
        'source',
        `has ${slos.length} objectives, but at most ${maxObjectives} can be imported at once: split it`,
      );
    const rejectedItems = rejected.map(
      ({ document, line, name, problems }): Outcome => ({
        document,
        line,
        name,
        outcome: 'refused',
        id: null,
        warnings: [],
        problems: problems.map(({ field, message, line: problemLine }) => ({
          path: field,
          message,
          line: problemLine,
        })),
      }),
    );
    const reader = createQueryReader(caller, ports);
    const nowMs = ports.clock.now();
    const warnings = new Map<ParsedSlo, string[]>();
    for (const parsed of slos)
      warnings.set(parsed, await readSloWarnings(parsed.slo, { reader, nowMs, log: ports.log }));
    const { fileName, dryRun } = body;
    const resources: ImportedSlos = new ImportedResources(sloResource, body);
    const importedItems = await importInBatches(slos, { change, resources }, async (batch, scope, batchResources) => {
      const outcomes: Outcome[] = [];
      for (const slo of batch) {
        const outcome = await importSlo(slo, { scope, caller, dryRun, fileName, resources: batchResources });
        outcomes.push({ ...outcome, warnings: outcome.outcome === 'refused' ? [] : (warnings.get(slo) ?? []) });
      }
      return outcomes;
    });
    const items = [...rejectedItems, ...importedItems];
    return { items: items.toSorted((first, second) => first.document - second.document || first.line - second.line) };
  },
});

export const exportSlo = defineOperation({
  method: 'GET',
  path: '/api/slos/{id}/export',
  operationId: 'exportSlo',
  summary: 'Export an SLO as OpenSLO; an import restores the same SLO',
  role: 'viewer',
  contentType: 'application/yaml',
  params: idParameter,
  query: z.strictObject({ version: z.enum(Object.values(versions)).default('v1') }),
  response: z.string(),
  async handler({ caller, params, query }, ports) {
    const { slo, importedFrom } = await findSlo(params.id, caller, ports);
    // A part of a document with several SLOs has a name with a slash.
    const isDocument = importedFrom?.format === 'openslo' && !importedFrom.name.includes('/');
    const openSlo = writeOpenSlo(slo, query.version, isDocument ? importedFrom.name : undefined);
    if ('problems' in openSlo) throw createFieldErrors(openSlo.problems);
    return openSlo.text;
  },
});
