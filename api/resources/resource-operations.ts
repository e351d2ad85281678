import { z } from 'zod';
import { notFound } from '../errors.ts';
import { type DeclaredOperation, defineOperation, type Method, parseOrThrow } from '../kernel/operation.ts';
import { createPatchSchema, createUpdateSchema, mergePatch } from './merge-patch.ts';
import { changeOne, createOne, removeOne, showOne } from './resource-changes.ts';
import { type ListParameters, listParameters, readPage } from './resource-list.ts';
import type { ResourceSpec, Verb, WriteParameters } from './resource-spec.ts';

export const idParameter = z.strictObject({ id: z.string().min(1).max(128) });

/** `license key` → `LicenseKey`, `on-call schedule` → `OnCallSchedule`. */
const toPascalCase = (noun: string): string =>
  noun.replaceAll(/(?:^|[ -])(\w)/g, (_, first: string) => first.toUpperCase());

/** Parameters of a write besides the document. */
const getParameters = ({ query }: { readonly query: unknown }): WriteParameters => (query ?? {}) as WriteParameters;

const defineCreate = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.commonDeclaration,
    ...spec.queries.create,
    method: 'POST',
    path: spec.path,
    operationId: `create${toPascalCase(spec.noun)}`,
    summary: `Create a ${spec.noun}`,
    role: spec.roles.write,
    audit: `${spec.writing.type}.create`,
    versions: 'shown',
    body: spec.fields.meta({ ...spec.fields.meta(), examples: [spec.example] }),
    response: spec.view,
    handler: (input, ports) => createOne(spec, input.body, { ...input, parameters: getParameters(input) }, ports),
  });

const defineList = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.commonDeclaration,
    method: 'GET',
    path: spec.path,
    operationId: `list${toPascalCase(spec.plural)}`,
    summary: `List ${spec.plural}`,
    role: spec.roles.read,
    query: listParameters(spec.listing),
    response: z.strictObject({ items: z.array(spec.view), nextCursor: z.string().nullable() }),
    async handler({ caller, query }, ports) {
      const stored = ports.documents.forTenant(caller.tenantId).collection(spec.writing.collection);
      const now = new Date(ports.clock.now()).toISOString();
      const where = spec.visible?.where(caller);
      const page = await readPage(stored, spec.listing, { query: query as ListParameters, now, where });
      return { items: [...(await spec.show(page.items, { caller, ports }))], nextCursor: page.nextCursor };
    },
  });

const defineRead = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.commonDeclaration,
    method: 'GET',
    path: `${spec.path}/{id}`,
    operationId: `get${toPascalCase(spec.noun)}`,
    summary: `Get a ${spec.noun}`,
    role: spec.roles.read,
    versions: spec.live ? 'shown' : 'read',
    params: idParameter,
    response: spec.view,
    async handler(input, ports) {
      const stored = ports.documents.forTenant(input.caller.tenantId).collection(spec.writing.collection);
      const document = await stored.find(input.params.id);
      if (document === undefined || spec.visible?.to(document, input.caller) === false) throw notFound(spec.noun);
      return showOne(spec, document, input, ports);
    },
  });

/** Schema of the body of a change, and how it is applied to the current fields. */
interface Change {
  body(fields: z.ZodObject, example: object): z.ZodObject;
  applyBody(fields: z.ZodObject, before: Record<string, unknown>, body: Record<string, unknown>): object;
}

const fullReplacement: Change = {
  body: (fields, example) => fields.meta({ ...fields.meta(), examples: [example] }),
  applyBody: (_fields, _before, body) => body,
};
const partialUpdate: Change = {
  body: createUpdateSchema,
  applyBody: (fields, before, body) =>
    parseOrThrow(
      fields,
      Object.fromEntries(Object.entries({ ...before, ...body }).filter(([, value]) => value !== null)),
    ),
};
const patch: Change = {
  body: createPatchSchema,
  applyBody: (fields, before, body) => parseOrThrow(fields, mergePatch(before, body)),
};

const defineChange = <Document extends object>(
  spec: ResourceSpec<Document>,
  options: { readonly method: Method; readonly name: string; readonly summary: string; readonly change: Change },
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
      const { caller, params, body } = input;
      const next: Parameters<typeof changeOne<Document>>[2] = (before, { forTenant }) => {
        const given = options.change.applyBody(spec.fields, spec.editable(before), body);
        return spec.prepareDocument(given, before, { caller, ports, forTenant, parameters: getParameters(input) });
      };
      const after = await changeOne(spec, params.id, next, input);
      return showOne(spec, after, input, ports);
    },
  });

const remove = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.commonDeclaration,
    ...spec.queries.change,
    method: 'DELETE',
    path: `${spec.path}/{id}`,
    operationId: `delete${toPascalCase(spec.noun)}`,
    summary: `Delete a ${spec.noun}`,
    role: spec.roles.delete,
    audit: `${spec.writing.type}.delete`,
    versions: spec.writing.requiresIfMatch ? 'require' : 'write',
    params: idParameter,
    response: z.strictObject({}),
    async handler(input) {
      await removeOne(spec, input.params.id, { ...input, parameters: getParameters(input) });
      return {};
    },
  });

const makers: Readonly<Record<Verb, <Document extends object>(spec: ResourceSpec<Document>) => DeclaredOperation>> = {
  create: defineCreate,
  list: defineList,
  read: defineRead,
  replace: (spec) =>
    defineChange(spec, { method: 'PUT', name: 'replace', summary: `Replace a ${spec.noun}`, change: fullReplacement }),
  update: (spec) =>
    defineChange(spec, {
      method: 'PUT',
      name: 'update',
      summary: `Change fields of a ${spec.noun}; omitted fields stay unchanged`,
      change: partialUpdate,
    }),
  patch: (spec) =>
    defineChange(spec, {
      method: 'PATCH',
      name: 'update',
      summary: `Change fields of a ${spec.noun} (JSON merge patch)`,
      change: patch,
    }),
  delete: remove,
};

/** Returns the operation for a verb. */
export const operationOf = <Document extends object>(spec: ResourceSpec<Document>, verb: Verb): DeclaredOperation =>
  makers[verb](spec);
