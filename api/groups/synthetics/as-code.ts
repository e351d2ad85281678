import { z } from 'zod';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { maxChecks } from '../../../schemas/resources/synthetic-check.ts';
import { maxLocations, syntheticLocations } from '../../../schemas/resources/synthetic-location.ts';
import {
  findFieldLine,
  type ParsedCheckFile,
  readCheckFilesInWorker,
  writeCheckYaml,
} from '../../../subjects/synthetics/as-code.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { findCheckProblems } from '../../../subjects/synthetics/problems.ts';
import { readChecks, readKnownNames } from '../../../subjects/synthetics/read-checks.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import {
  type ImportContext,
  ImportedResources,
  importBodyFields,
  importInBatches,
  importOutcomeFields,
} from '../../resources/import-by-name.ts';
import { checkResource, type ImportableCheck } from './check.ts';

const readLocations = async (documents: TenantDocuments) =>
  (await documents.collection(syntheticLocations).list({ limit: maxLocations })).items;

export const exportChecks = defineOperation({
  method: 'GET',
  path: '/api/synthetics/export',
  operationId: 'exportSyntheticChecks',
  summary: 'Export checks as YAML, one document each; an import leaves them unchanged',
  role: 'viewer',
  contentType: 'application/yaml',
  query: z.strictObject({ label: z.string().max(2048).optional().describe('NAME=VALUE: only checks with this label') }),
  response: z.string(),
  async handler({ caller, query }, { documents }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    const names = new Map((await readLocations(tenantDocuments)).map(({ id, name }) => [id, name]));
    const [label = '', ...value] = query.label?.split('=') ?? [];
    if (query.label !== undefined && value.length === 0) throw createFieldError('label', 'must be NAME=VALUE');
    const checks = (await readChecks(tenantDocuments)).filter(
      ({ labels }) => query.label === undefined || labels[label] === value.join('='),
    );
    return checks.map((check) => writeCheckYaml(check, (location) => names.get(location) ?? location)).join('---\n');
  },
});

const problems = z.array(z.strictObject({ path: z.string(), line: z.int(), message: z.string() }));
const Outcome = z.strictObject({
  ...importOutcomeFields,
  problems: problems.describe('Why it was rejected'),
  losses: problems.describe('Parts of a recording that are unsupported or changed; empty for a check'),
});
type Outcome = z.input<typeof Outcome>;

/**
 * Reads the objects that checks can reference: ids of locations by name, and variables. An import does not change them.
 */
const readReferences = async (tenantDocuments: TenantDocuments) => ({
  ids: new Map((await readLocations(tenantDocuments)).map(({ id, name }) => [name, id])),
  known: await readKnownNames(tenantDocuments),
});

/**
 * Returns the check to store for a document. A recording only changes the browser steps. If some recorded steps are
 * unsupported, a new check stays disabled until somebody has reviewed it.
 */
const mergeRecording = async (
  { check, recording }: ParsedCheckFile & { readonly check: CheckFields },
  tenantDocuments: TenantDocuments,
): Promise<CheckFields> => {
  if (recording === undefined || check.browser === undefined) return check;
  const { items } = await tenantDocuments
    .collection(checkResource.collection)
    .list({ filter: { name: check.name }, limit: 1 });
  const [existingCheck] = items;
  if (existingCheck === undefined) return { ...check, enabled: recording.isComplete };
  if (existingCheck.type !== check.type)
    throw createFieldError('title', `is the name of a check of the type ${existingCheck.type}`);
  return CheckFields.strip().parse({ ...existingCheck, browser: { ...existingCheck.browser, ...check.browser } });
};

/** Returns documents with the problem of those that have the name of an earlier one: it would overwrite that. */
const rejectRepeatedNames = (files: readonly ParsedCheckFile[]): readonly ParsedCheckFile[] => {
  const linesByName = new Map<string, number>();
  return files.map((file) => {
    if (file.name === null) return file;
    const firstLine = linesByName.get(file.name);
    if (firstLine === undefined) linesByName.set(file.name, file.line);
    if (firstLine === undefined || file.check === undefined) return file;
    const { check: _, ...rest } = file;
    const line = findFieldLine(file, 'name');
    return { ...rest, problems: [{ path: 'name', line, message: `is that of the document at line ${firstLine}` }] };
  });
};

type ImportedChecks = ImportedResources<ImportableCheck, unknown>;

/** Creates or changes the check of a document. */
const importCheck = async (
  file: ParsedCheckFile,
  { ids, known }: Awaited<ReturnType<typeof readReferences>>,
  { resources, ...importContext }: ImportContext & { readonly resources: ImportedChecks },
): Promise<Outcome> => {
  const base = { document: file.document, line: file.line, name: file.name };
  const losses = [...(file.recording?.losses ?? [])];
  const reject = (problems: readonly { path: string; message: string; line?: number }[]): Outcome => ({
    ...base,
    outcome: 'refused',
    id: null,
    losses,
    problems: problems.map(({ path, message, line }) => ({ path, message, line: line ?? findFieldLine(file, path) })),
  });
  const { check } = file;
  if (check === undefined) return reject(file.problems);
  try {
    const mergedCheck = await mergeRecording(
      { ...file, check },
      importContext.scope.forTenant(importContext.caller.tenantId),
    );
    const next = {
      ...mergedCheck,
      importedFrom: { format: 'check', fileName: '', name: mergedCheck.name },
      locations: mergedCheck.locations.map((location) => ids.get(location) ?? location),
    };
    const checkProblems = findCheckProblems(next, known);
    if (checkProblems.length > 0) return reject(checkProblems);
    const { problem, ...result } = await resources.write(next, importContext);
    if (problem !== undefined) return reject([{ path: 'name', message: problem }]);
    return { ...base, ...result, problems: [], losses };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return reject(error.details ?? [{ path: '', message: error.message }]);
  }
};

const example = `name: Shop answers
type: http
every: 30s
http:
  steps:
    - url: https://shop.example.com/
      assertions:
        - { source: status, operator: is, value: 200 }
`;

export const importChecks = defineOperation({
  method: 'POST',
  path: '/api/synthetics/import',
  operationId: 'importSyntheticChecks',
  summary:
    'Import checks, or recordings of a browser, by name, with a result for each; a repeated import changes nothing',
  role: 'editor',
  audit: ['synthetic-check.create', 'synthetic-check.update'],
  maxBodyBytes: 8 * 1024 * 1024,
  body: z.strictObject({
    source: z
      .string()
      .min(1)
      .max(900_000)
      .describe('YAML documents, one per check; or JSON recordings of Chrome’s Recorder')
      .meta({ examples: [example] }),
    ...importBodyFields,
  }),
  response: z.strictObject({ items: z.array(Outcome) }),
  async handler({ caller, body, change, signal }) {
    const files = await readCheckFilesInWorker(
      { tenantId: caller.tenantId, callerId: caller.actor.id, signal },
      body.source,
    );
    if (files.length > maxChecks)
      throw createFieldError('source', `has ${files.length} checks, and at most ${maxChecks} are read`);
    const resources: ImportedChecks = new ImportedResources(checkResource, body);
    const options = { change, resources };
    const items = await importInBatches(rejectRepeatedNames(files), options, async (batch, scope, batchResources) => {
      const references = await readReferences(scope.forTenant(caller.tenantId));
      const importContext = { scope, caller, dryRun: body.dryRun, resources: batchResources };
      const outcomes: Outcome[] = [];
      for (const file of batch) outcomes.push(await importCheck(file, references, importContext));
      return outcomes;
    });
    return { items };
  },
});
