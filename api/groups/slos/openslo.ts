import { z } from 'zod';
import { QueryError } from '../../../queries/errors.ts';
import { versions } from '../../../subjects/slos/openslo/indicators.ts';
import { type ReadSlo, readOpenSloApart } from '../../../subjects/slos/openslo/read.ts';
import { writeOpenSlo } from '../../../subjects/slos/openslo/write.ts';
import type { Caller } from '../../callers/caller.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError, invalid, invalidFields } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { saysTheSame } from '../../resources/resource-history.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { foundSlo } from './found.ts';
import { type Document, prepared, sloResource } from './slo.ts';

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

const mostObjectives = 500;
/** Written in one transaction, which has to end within seconds. */
const atOnce = 50;

const Outcome = z.strictObject({
  document: z.int().describe('Number of the document in the text, from 1'),
  line: z.int(),
  name: z.string().nullable().describe('Null where it could not be read'),
  outcome: z.enum(['created', 'changed', 'unchanged', 'refused']),
  id: z.string().nullable().describe('Null where it was refused, or would be created'),
  problems: z.array(z.strictObject({ path: z.string(), message: z.string() })).describe('Why it was refused'),
});
type Outcome = z.input<typeof Outcome>;

const refusal = (error: unknown): Outcome['problems'] => {
  if (error instanceof ApiError) return [...(error.details ?? [{ path: '', message: error.message }])];
  if (error instanceof QueryError) return [{ path: error.path ?? '', message: error.message }];
  throw error;
};

/** Creates or changes the objective of that name. */
const take = async (
  { document, line, slo }: ReadSlo,
  { scope, caller, dryRun }: { readonly scope: AuditedTransaction; readonly caller: Caller; readonly dryRun: boolean },
): Promise<Outcome> => {
  const told = { document, line, name: slo.name, problems: [] };
  let next: Document;
  try {
    next = prepared(slo, caller);
  } catch (error) {
    return { ...told, outcome: 'refused', id: null, problems: refusal(error) };
  }
  const stored = scope.of(caller.tenantId).collection(sloResource.collection);
  const { items } = await stored.list({ filter: { name: slo.name }, limit: 1 });
  const [known] = items;
  const writer = sloResource.writer(scope, caller);
  if (known === undefined) {
    const made = dryRun ? undefined : await writer.create(next, { action: 'service-level-objective.create' });
    return { ...told, outcome: 'created', id: made?.id ?? null };
  }
  if (saysTheSame(next, known)) return { ...told, outcome: 'unchanged', id: known.id };
  if (!dryRun) await writer.change(known.id, () => next, { action: 'service-level-objective.update' });
  return { ...told, outcome: 'changed', id: known.id };
};

export const importSlos = defineOperation({
  method: 'POST',
  path: '/api/slos/import',
  operationId: 'importSlos',
  summary: 'Import objectives of OpenSLO, Sloth or Pyrra, with a result for each; the same again changes nothing',
  role: 'editor',
  audit: ['service-level-objective.create', 'service-level-objective.update'],
  // Beyond what `yaml` takes, so that what is too long is named.
  maxBodyBytes: 8 * 1024 * 1024,
  body: z.strictObject({
    source: z
      .string()
      .min(1)
      .max(900_000)
      .describe('Documents of YAML, which may refer to each other')
      .meta({ examples: [example] }),
    dryRun: z.boolean().default(false).describe('Only say what would become of each objective'),
  }),
  response: z.strictObject({ items: z.array(Outcome) }),
  async handler({ caller, body, change, signal }) {
    const { slos, problems } = await readOpenSloApart({ tenantId: caller.tenantId, signal }, body.source);
    if (slos.length > mostObjectives)
      throw invalid(
        'source',
        `has ${slos.length} objectives, and at most ${mostObjectives} are read at once: split it`,
      );
    const items: Outcome[] = problems.map(({ document, line, field, message }) => ({
      ...{ document, line, name: null, outcome: 'refused', id: null, problems: [{ path: field, message }] },
    }));
    for (let from = 0; from < slos.length; from += atOnce)
      items.push(
        ...(await change(async (scope) => {
          const outcomes: Outcome[] = [];
          for (const slo of slos.slice(from, from + atOnce))
            outcomes.push(await take(slo, { scope, caller, dryRun: body.dryRun }));
          // There may be nothing that is new.
          scope.unchanged();
          return outcomes;
        })),
      );
    return { items: items.toSorted((one, other) => one.document - other.document || one.line - other.line) };
  },
});

export const exportSlo = defineOperation({
  method: 'GET',
  path: '/api/slos/{id}/export',
  operationId: 'exportSlo',
  summary: 'Export an objective as OpenSLO; imported again it is the same',
  role: 'viewer',
  contentType: 'application/yaml',
  params: idParameter,
  query: z.strictObject({ version: z.enum(Object.values(versions)).default('v1') }),
  response: z.string(),
  async handler({ caller, params, query }, ports) {
    const { slo } = await foundSlo(params.id, caller, ports);
    const written = writeOpenSlo(slo, query.version);
    if ('problems' in written) throw invalidFields(written.problems);
    return written.text;
  },
});
