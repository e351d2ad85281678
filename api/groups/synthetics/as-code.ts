import { z } from 'zod';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { mostChecks } from '../../../schemas/resources/synthetic-check.ts';
import { mostLocations, syntheticLocations } from '../../../schemas/resources/synthetic-location.ts';
import {
  lineOfField,
  type ReadCheckFile,
  readCheckFilesApart,
  writeCheck,
} from '../../../subjects/synthetics/as-code.ts';
import type { CheckFields } from '../../../subjects/synthetics/check.ts';
import { readChecks, readKnown } from '../../../subjects/synthetics/known.ts';
import { checkProblems } from '../../../subjects/synthetics/problems.ts';
import type { Caller } from '../../callers/caller.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError, invalid } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { saysTheSame } from '../../resources/resource-history.ts';
import { checkResource } from './check.ts';

const readLocations = async (documents: TenantDocuments) =>
  (await documents.collection(syntheticLocations).list({ limit: mostLocations })).items;

export const exportChecks = defineOperation({
  method: 'GET',
  path: '/api/synthetics/export',
  operationId: 'exportSyntheticChecks',
  summary: 'Export checks as YAML, a document each; imported again they are unchanged',
  role: 'viewer',
  contentType: 'application/yaml',
  query: z.strictObject({ label: z.string().max(2048).optional().describe('NAME=VALUE: only checks that have it') }),
  response: z.string(),
  async handler({ caller, query }, { documents }) {
    const own = documents.of(caller.tenantId);
    const names = new Map((await readLocations(own)).map(({ id, name }) => [id, name]));
    const [label = '', ...value] = query.label?.split('=') ?? [];
    if (query.label !== undefined && value.length === 0) throw invalid('label', 'must be NAME=VALUE');
    const checks = (await readChecks(own)).filter(
      ({ labels }) => query.label === undefined || labels[label] === value.join('='),
    );
    return checks.map((check) => writeCheck(check, (location) => names.get(location) ?? location)).join('---\n');
  },
});

const Outcome = z.strictObject({
  document: z.int().describe('Number of the document in the text, from 1'),
  line: z.int(),
  name: z.string().nullable().describe('Null where it could not be read'),
  outcome: z.enum(['created', 'changed', 'unchanged', 'refused']),
  id: z.string().nullable().describe('Null where it was refused, or would be created'),
  problems: z
    .array(z.strictObject({ path: z.string(), line: z.int(), message: z.string() }))
    .describe('Why it was refused'),
});
type Outcome = z.input<typeof Outcome>;

/** Written in one transaction, which has to end within seconds. */
const atOnce = 50;

interface Taking {
  readonly scope: AuditedTransaction;
  readonly caller: Caller;
  readonly dryRun: boolean;
}

/** Creates or changes the check of that name. */
const take = async (file: ReadCheckFile, { scope, caller, dryRun }: Taking): Promise<Outcome> => {
  const told = { document: file.document, line: file.line, name: file.name };
  const refuse = (problems: readonly { path: string; message: string; line?: number }[]): Outcome => ({
    ...{ ...told, outcome: 'refused', id: null },
    problems: problems.map(({ path, message, line }) => ({ path, message, line: line ?? lineOfField(file, path) })),
  });
  if (file.check === undefined) return refuse(file.problems);
  const own = scope.of(caller.tenantId);
  const ids = new Map((await readLocations(own)).map(({ id, name }) => [name, id]));
  const next: CheckFields = {
    ...file.check,
    locations: file.check.locations.map((location) => ids.get(location) ?? location),
  };
  const problems = checkProblems(next, await readKnown(own));
  if (problems.length > 0) return refuse(problems);
  const [known] = (await own.collection(checkResource.collection).list({ filter: { name: next.name }, limit: 1 }))
    .items;
  const writer = checkResource.writer(scope, caller);
  try {
    if (known === undefined) {
      const made = dryRun ? undefined : await writer.create(next, { action: 'synthetic-check.create' });
      return { ...told, outcome: 'created', id: made?.id ?? null, problems: [] };
    }
    if (saysTheSame(next, known)) return { ...told, outcome: 'unchanged', id: known.id, problems: [] };
    if (!dryRun) await writer.change(known.id, () => next, { action: 'synthetic-check.update' });
    return { ...told, outcome: 'changed', id: known.id, problems: [] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return refuse(error.details ?? [{ path: '', message: error.message }]);
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
  summary: 'Import checks by their names, with a result for each; the same again changes nothing',
  role: 'editor',
  audit: ['synthetic-check.create', 'synthetic-check.update'],
  maxBodyBytes: 8 * 1024 * 1024,
  body: z.strictObject({
    source: z
      .string()
      .min(1)
      .max(900_000)
      .describe('Documents of YAML, a check each')
      .meta({ examples: [example] }),
    dryRun: z.boolean().default(false).describe('Only say what would become of each check'),
  }),
  response: z.strictObject({ items: z.array(Outcome) }),
  async handler({ caller, body, change, signal }) {
    const files = await readCheckFilesApart({ tenantId: caller.tenantId, signal }, body.source);
    if (files.length > mostChecks)
      throw invalid('source', `has ${files.length} checks, and at most ${mostChecks} are read`);
    const items: Outcome[] = [];
    for (let from = 0; from < files.length; from += atOnce)
      items.push(
        ...(await change(async (scope) => {
          const outcomes: Outcome[] = [];
          for (const file of files.slice(from, from + atOnce))
            outcomes.push(await take(file, { scope, caller, dryRun: body.dryRun }));
          // There may be nothing that is new.
          scope.unchanged();
          return outcomes;
        })),
      );
    return { items };
  },
});
