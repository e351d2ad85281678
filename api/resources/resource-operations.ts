import { z } from 'zod';
import { notFound } from '../errors.ts';
import { type DeclaredOperation, defineOperation, type Method, validated } from '../kernel/operation.ts';
import { mergePatch, patchOf, presentOf } from './merge-patch.ts';
import { answerOne, changeOne, createOne, removeOne } from './resource-changes.ts';
import { type ListParameters, listParameters, readPage } from './resource-list.ts';
import type { ResourceSpec, Verb, WriteParameters } from './resource-spec.ts';

export const idParameter = z.strictObject({ id: z.string().min(1).max(128) });

/** `license key` → `LicenseKey`, `on-call schedule` → `OnCallSchedule`. */
const titled = (noun: string): string => noun.replaceAll(/(?:^|[ -])(\w)/g, (_, first: string) => first.toUpperCase());

/** Parameters of a write besides the document. */
const parametersOf = ({ query }: { readonly query: unknown }): WriteParameters => (query ?? {}) as WriteParameters;

const create = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.declared,
    ...spec.queries.create,
    method: 'POST',
    path: spec.path,
    operationId: `create${titled(spec.noun)}`,
    summary: `Create a ${spec.noun}`,
    role: spec.roles.write,
    audit: `${spec.writing.type}.create`,
    versions: 'shown',
    body: spec.fields.meta({ ...spec.fields.meta(), examples: [spec.example] }),
    response: spec.view,
    handler: (input, ports) => createOne(spec, input.body, { ...input, parameters: parametersOf(input) }, ports),
  });

const list = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.declared,
    method: 'GET',
    path: spec.path,
    operationId: `list${titled(spec.plural)}`,
    summary: `List ${spec.plural}`,
    role: spec.roles.read,
    query: listParameters(spec.listing),
    response: z.strictObject({ items: z.array(spec.view), nextCursor: z.string().nullable() }),
    async handler({ caller, query }, ports) {
      const stored = ports.documents.of(caller.tenantId).collection(spec.writing.collection);
      const now = new Date(ports.clock.now()).toISOString();
      const where = spec.visible?.where(caller);
      const page = await readPage(stored, spec.listing, { query: query as ListParameters, now, where });
      return { items: [...(await spec.show(page.items, { caller, ports }))], nextCursor: page.nextCursor };
    },
  });

const read = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.declared,
    method: 'GET',
    path: `${spec.path}/{id}`,
    operationId: `get${titled(spec.noun)}`,
    summary: `Get a ${spec.noun}`,
    role: spec.roles.read,
    versions: spec.live ? 'shown' : 'read',
    params: idParameter,
    response: spec.view,
    async handler(input, ports) {
      const stored = ports.documents.of(input.caller.tenantId).collection(spec.writing.collection);
      const document = await stored.find(input.params.id);
      if (document === undefined || spec.visible?.to(document, input.caller) === false) throw notFound(spec.noun);
      return answerOne(spec, document, input, ports);
    },
  });

/** Schema of the body of a change, and its effect on the present fields. */
interface Change {
  body(fields: z.ZodObject, example: object): z.ZodObject;
  given(fields: z.ZodObject, before: Record<string, unknown>, body: Record<string, unknown>): object;
}

const whole: Change = {
  body: (fields, example) => fields.meta({ ...fields.meta(), examples: [example] }),
  given: (_fields, _before, body) => body,
};
const present: Change = {
  body: presentOf,
  given: (fields, before, body) =>
    validated(fields, Object.fromEntries(Object.entries({ ...before, ...body }).filter(([, value]) => value !== null))),
};
const patch: Change = {
  body: patchOf,
  given: (fields, before, body) => validated(fields, mergePatch(before, body)),
};

const changing = <Document extends object>(
  spec: ResourceSpec<Document>,
  how: { readonly method: Method; readonly name: string; readonly summary: string; readonly change: Change },
): DeclaredOperation =>
  defineOperation({
    ...spec.declared,
    ...spec.queries.change,
    method: how.method,
    path: `${spec.path}/{id}`,
    operationId: `${how.name}${titled(spec.noun)}`,
    summary: how.summary,
    role: spec.roles.write,
    audit: `${spec.writing.type}.update`,
    versions: spec.writing.requiresIfMatch ? 'require' : 'write',
    params: idParameter,
    body: how.change.body(spec.fields, spec.example),
    response: spec.view,
    async handler(input, ports) {
      const { caller, params, body } = input;
      const next: Parameters<typeof changeOne<Document>>[2] = (before, { of }) => {
        const given = how.change.given(spec.fields, spec.editable(before), body);
        return spec.prepared(given, before, { caller, ports, of, parameters: parametersOf(input) });
      };
      const after = await changeOne(spec, params.id, next, input);
      return answerOne(spec, after, input, ports);
    },
  });

const remove = <Document extends object>(spec: ResourceSpec<Document>): DeclaredOperation =>
  defineOperation({
    ...spec.declared,
    ...spec.queries.change,
    method: 'DELETE',
    path: `${spec.path}/{id}`,
    operationId: `delete${titled(spec.noun)}`,
    summary: `Delete a ${spec.noun}`,
    role: spec.roles.delete,
    audit: `${spec.writing.type}.delete`,
    versions: spec.writing.requiresIfMatch ? 'require' : 'write',
    params: idParameter,
    response: z.strictObject({}),
    async handler(input) {
      await removeOne(spec, input.params.id, { ...input, parameters: parametersOf(input) });
      return {};
    },
  });

const makers: Readonly<Record<Verb, <Document extends object>(spec: ResourceSpec<Document>) => DeclaredOperation>> = {
  create,
  list,
  read,
  replace: (spec) =>
    changing(spec, { method: 'PUT', name: 'replace', summary: `Replace a ${spec.noun}`, change: whole }),
  update: (spec) =>
    changing(spec, {
      method: 'PUT',
      name: 'update',
      summary: `Change fields of a ${spec.noun}; omitted fields stay unchanged`,
      change: present,
    }),
  patch: (spec) =>
    changing(spec, {
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
