import { z } from 'zod';
import { createNotFoundError } from '../errors.ts';
import { type DeclaredOperation, defineOperation, type Method, parseOrThrow } from '../kernel/operation.ts';
import { createPatchSchema, createUpdateSchema, mergePatch } from './merge-patch.ts';
import { changeFields, createDocument, removeDocument, showDocument } from './resource-changes.ts';
import { createListParameters, type ListParameters, readFlagFilters, readPage } from './resource-list.ts';
import type { ResourceSpec, Verb, WriteParameters } from './resource-spec.ts';

export const idParameter = z.strictObject({ id: z.string().min(1).max(128) });

/** `license key` → `LicenseKey`, `on-call schedule` → `OnCallSchedule`. */
const toPascalCase = (noun: string): string =>
  noun.replaceAll(/(?:^|[ -])(\w)/g, (_, first: string) => first.toUpperCase());

/** Returns a noun with its indefinite article: `an alert rule`. */
const withArticle = (noun: string): string => `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** Parameters of a write besides the document. */
const getParameters = ({ query }: { readonly query: unknown }): WriteParameters => (query ?? {}) as WriteParameters;

const defineCreate = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.commonDeclaration,
    ...spec.queries.create,
    method: 'POST',
    path: spec.path,
    operationId: `create${toPascalCase(spec.noun)}`,
    summary: `Create ${withArticle(spec.noun)}`,
    role: spec.roles.write,
    audit: `${spec.writing.type}.create`,
    versions: 'shown',
    body: spec.fields.meta({ ...spec.fields.meta(), examples: [spec.example] }),
    response: spec.view,
    handler: (input, ports) => createDocument(spec, input.body, { ...input, parameters: getParameters(input) }, ports),
  });

const defineList = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.commonDeclaration,
    method: 'GET',
    path: spec.path,
    operationId: `list${toPascalCase(spec.plural)}`,
    summary: `List ${spec.plural}`,
    role: spec.roles.read,
    query: createListParameters(spec.listing),
    response: z.strictObject({ items: z.array(spec.view), nextCursor: z.string().nullable() }),
    async handler({ caller, query }, ports) {
      const documents = ports.documents.forTenant(caller.tenantId);
      const now = new Date(ports.clock.now()).toISOString();
      const parameters = query as ListParameters;
      const filters = await readFlagFilters(spec.listing, parameters, documents);
      if (spec.visibility !== undefined) filters.push(spec.visibility.where(caller));
      const where = filters.length === 0 ? undefined : { $and: filters };
      const collection = documents.collection(spec.writing.collection);
      const page = await readPage(collection, spec.listing, { query: parameters, now, where });
      return { items: [...(await spec.show(page.items, { caller, ports }))], nextCursor: page.nextCursor };
    },
  });

const defineRead = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.commonDeclaration,
    method: 'GET',
    path: `${spec.path}/{id}`,
    operationId: `get${toPascalCase(spec.noun)}`,
    summary: `Get ${withArticle(spec.noun)}`,
    role: spec.roles.read,
    versions: spec.hasLiveData ? 'shown' : 'read',
    params: idParameter,
    response: spec.view,
    async handler(input, ports) {
      const collection = ports.documents.forTenant(input.caller.tenantId).collection(spec.writing.collection);
      const document = await collection.find(input.params.id);
      if (document === undefined || spec.visibility?.to(document, input.caller) === false)
        throw createNotFoundError(spec.noun);
      return showDocument(spec, document, input, ports);
    },
  });

/** Schema of the body of a change, and how it is applied to the current fields. */
interface ChangeKind {
  body(fields: z.ZodObject, example: object): z.ZodObject;
  applyBody(fields: z.ZodObject, before: Record<string, unknown>, body: Record<string, unknown>): object;
}

const fullReplacement: ChangeKind = {
  body: (fields, example) => fields.meta({ ...fields.meta(), examples: [example] }),
  applyBody: (_fields, _before, body) => body,
};
const partialUpdate: ChangeKind = {
  body: createUpdateSchema,
  applyBody: (fields, before, body) =>
    parseOrThrow(
      fields,
      Object.fromEntries(Object.entries({ ...before, ...body }).filter(([, value]) => value !== null)),
    ),
};
const mergePatchUpdate: ChangeKind = {
  body: createPatchSchema,
  applyBody: (fields, before, body) => parseOrThrow(fields, mergePatch(before, body)),
};

const defineChange = <Document extends object>(
  spec: ResourceSpec<Document>,
  options: { readonly method: Method; readonly name: string; readonly summary: string; readonly change: ChangeKind },
): DeclaredOperation =>
  defineOperation({
    ...spec.commonDeclaration,
    ...spec.queries.change,
    method: options.method,
    path: `${spec.path}/{id}`,
    operationId: `${options.name}${toPascalCase(spec.noun)}`,
    summary: options.summary,
    role: spec.roles.write,
    audit: `${spec.writing.type}.update`,
    versions: spec.writing.requiresIfMatch ? 'require' : 'write',
    params: idParameter,
    body: options.change.body(spec.fields, spec.example),
    response: spec.view,
    async handler(input, ports) {
      const { params, body } = input;
      const after = await changeFields(
        spec,
        params.id,
        (before) => options.change.applyBody(spec.fields, spec.getWritableFields(before), body),
        { ...input, ports, parameters: getParameters(input) },
      );
      return showDocument(spec, after, input, ports);
    },
  });

const defineDelete = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.commonDeclaration,
    ...spec.queries.change,
    method: 'DELETE',
    path: `${spec.path}/{id}`,
    operationId: `delete${toPascalCase(spec.noun)}`,
    summary: `Delete ${withArticle(spec.noun)}`,
    role: spec.roles.delete,
    audit: `${spec.writing.type}.delete`,
    versions: spec.writing.requiresIfMatch ? 'require' : 'write',
    params: idParameter,
    response: z.strictObject({}),
    async handler(input) {
      await removeDocument(spec, input.params.id, { ...input, parameters: getParameters(input) });
      return {};
    },
  });

const definersByVerb: Readonly<
  Record<Verb, <Document extends object>(spec: ResourceSpec<Document>) => DeclaredOperation>
> = {
  create: defineCreate,
  list: defineList,
  read: defineRead,
  replace: (spec) =>
    defineChange(spec, {
      method: 'PUT',
      name: 'replace',
      summary: `Replace ${withArticle(spec.noun)}`,
      change: fullReplacement,
    }),
  update: (spec) =>
    defineChange(spec, {
      method: 'PUT',
      name: 'update',
      summary: `Change fields of ${withArticle(spec.noun)}; omitted fields stay unchanged`,
      change: partialUpdate,
    }),
  patch: (spec) =>
    defineChange(spec, {
      method: 'PATCH',
      name: 'update',
      summary: `Change fields of ${withArticle(spec.noun)} (JSON merge patch)`,
      change: mergePatchUpdate,
    }),
  delete: defineDelete,
};

/** Returns the operation for a verb. */
export const defineVerbOperation = <Document extends object>(
  spec: ResourceSpec<Document>,
  verb: Verb,
): DeclaredOperation => definersByVerb[verb](spec);
