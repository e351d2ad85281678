import { z } from 'zod';
import { notFound } from '../kernel/errors.ts';
import { type DeclaredOperation, defineOperation, type Method, validated } from '../kernel/operation.ts';
import { mergePatch, patchOf } from './merge-patch.ts';
import { answerOne, changeOne, createOne, removeOne } from './resource-changes.ts';
import type { Form, Verb } from './resource-form.ts';
import { type ListParameters, listParameters, readPage } from './resource-list.ts';

export const idParameter = z.strictObject({ id: z.string().min(1).max(128) });

/** `license key` → `LicenseKey`. */
const titled = (noun: string): string => noun.replaceAll(/(?:^| )(\w)/g, (_, first: string) => first.toUpperCase());

const create = <Document extends object>(form: Form<Document>): DeclaredOperation =>
  defineOperation({
    ...form.declared,
    method: 'POST',
    path: form.path,
    operationId: `create${titled(form.noun)}`,
    summary: `Create a ${form.noun}`,
    role: form.roles.write,
    audit: `${form.written.type}.create`,
    versions: 'shown',
    body: form.fields.meta({ ...form.fields.meta(), examples: [form.example] }),
    response: form.view,
    handler: (input, ports) => createOne(form, input.body, input, ports),
  });

const list = <Document extends object>(form: Form<Document>): DeclaredOperation =>
  defineOperation({
    ...form.declared,
    method: 'GET',
    path: form.path,
    operationId: `list${titled(form.plural)}`,
    summary: `The organization’s ${form.plural}`,
    role: form.roles.read,
    query: listParameters(form.listing),
    response: z.strictObject({ items: z.array(form.view), nextCursor: z.string().nullable() }),
    async handler({ caller, query }, ports) {
      const stored = ports.documents.of(caller.tenantId).collection(form.written.collection);
      const now = new Date(ports.clock.now()).toISOString();
      const page = await readPage(stored, form.listing, { query: query as ListParameters, now });
      return { items: [...(await form.show(page.items, { caller, ports }))], nextCursor: page.nextCursor };
    },
  });

const read = <Document extends object>(form: Form<Document>): DeclaredOperation =>
  defineOperation({
    ...form.declared,
    method: 'GET',
    path: `${form.path}/{id}`,
    operationId: `get${titled(form.noun)}`,
    summary: `One ${form.noun}`,
    role: form.roles.read,
    versions: form.live ? 'shown' : 'read',
    params: idParameter,
    response: form.view,
    async handler(input, ports) {
      const stored = ports.documents.of(input.caller.tenantId).collection(form.written.collection);
      const document = await stored.find(input.params.id);
      if (document === undefined) throw notFound(form.noun);
      return answerOne(form, document, input, ports);
    },
  });

const changing = <Document extends object>(
  form: Form<Document>,
  how: { readonly method: Method; readonly name: string; readonly summary: string; readonly whole: boolean },
): DeclaredOperation =>
  defineOperation({
    ...form.declared,
    method: how.method,
    path: `${form.path}/{id}`,
    operationId: `${how.name}${titled(form.noun)}`,
    summary: how.summary,
    role: form.roles.write,
    audit: `${form.written.type}.update`,
    versions: form.written.insists ? 'insist' : 'write',
    params: idParameter,
    body: how.whole ? form.fields.meta({ ...form.fields.meta(), examples: [form.example] }) : patchOf(form.fields),
    response: form.view,
    async handler(input, ports) {
      const { caller, params, body } = input;
      const after = await changeOne(
        form,
        params.id,
        (before, { of }) => {
          const given = how.whole ? body : validated(form.fields, mergePatch(form.editable(before), body));
          return form.prepared(given, before, { caller, ports, of });
        },
        input,
        ports,
      );
      return answerOne(form, after, input, ports);
    },
  });

const remove = <Document extends object>(form: Form<Document>): DeclaredOperation =>
  defineOperation({
    ...form.declared,
    method: 'DELETE',
    path: `${form.path}/{id}`,
    operationId: `delete${titled(form.noun)}`,
    summary: `Delete a ${form.noun}`,
    role: form.roles.delete,
    audit: `${form.written.type}.delete`,
    versions: form.written.insists ? 'insist' : 'write',
    params: idParameter,
    response: z.strictObject({}),
    async handler(input, ports) {
      await removeOne(form, input.params.id, input, ports);
      return {};
    },
  });

const makers: Readonly<Record<Verb, <Document extends object>(form: Form<Document>) => DeclaredOperation>> = {
  create,
  list,
  read,
  replace: (form) => changing(form, { method: 'PUT', name: 'replace', summary: `Replace a ${form.noun}`, whole: true }),
  update: (form) =>
    changing(form, {
      method: 'PUT',
      name: 'update',
      summary: `Change a ${form.noun}; only fields present are written`,
      whole: false,
    }),
  patch: (form) =>
    changing(form, {
      method: 'PATCH',
      name: 'update',
      summary: `Change fields of a ${form.noun} (JSON merge patch)`,
      whole: false,
    }),
  delete: remove,
};

/** The operation of a verb. */
export const operationOf = <Document extends object>(form: Form<Document>, verb: Verb): DeclaredOperation =>
  makers[verb](form);
