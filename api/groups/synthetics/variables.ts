import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import {
  maxVariables,
  type SyntheticVariable,
  syntheticVariables,
} from '../../../schemas/resources/synthetic-variable.ts';
import { findUnboundSecrets, isBoundTo } from '../../../subjects/synthetics/problems.ts';
import {
  groupChecksByVariable,
  type IdentifiedCheck,
  readChecks,
  readKnownNames,
} from '../../../subjects/synthetics/read-checks.ts';
import { templateNamePattern } from '../../../subjects/synthetics/templates.ts';
import { variablePurpose } from '../../../subjects/synthetics/work.ts';
import { hasSameFields } from '../../changes.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { markSecretChanges, secretMask } from '../../resources/resource-secrets.ts';

const VariableName = z.string().regex(templateNamePattern, 'must be a name of at most 64 letters, digits, _ and -');

const HostPattern = z
  .string()
  .max(253)
  .regex(
    /^(?:\*\.)?[a-z0-9](?:[a-z0-9.:-]*[a-z0-9])?$/,
    'must be a host in lower case, such as shop.example or *.shop.example',
  );

const VariableView = z.strictObject({
  name: VariableName,
  description: z.string(),
  isSecret: z.boolean(),
  value: z.string().describe('Masked for a secret'),
  hosts: z.array(z.string()),
  checks: z.array(z.strictObject({ id: z.string(), name: z.string() })).describe('Checks that use it'),
  updatedAt: z.iso.datetime(),
});

const toView = (
  { id, description, isSecret, value, hosts, updatedAt }: SyntheticVariable & StoredMetadata,
  checks: readonly IdentifiedCheck[] = [],
): z.input<typeof VariableView> => ({
  name: id,
  description,
  isSecret,
  updatedAt,
  value: isSecret ? secretMask : value,
  hosts: [...hosts],
  checks: checks.map((check) => ({ id: check.id, name: check.name })),
});

const secretFields = [{ path: 'value', destination: [] }];
const toAuditFields = (variable: SyntheticVariable, before?: SyntheticVariable): object =>
  variable.isSecret ? markSecretChanges(variable, secretFields, before) : variable;

export const listVariables = defineOperation({
  method: 'GET',
  path: '/api/synthetics/variables',
  operationId: 'listSyntheticVariables',
  summary: 'List variables with the checks that use them; secrets are masked',
  role: 'viewer',
  response: z.strictObject({ items: z.array(VariableView), nextCursor: z.null() }),
  async handler({ caller }, { documents }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    const { items } = await tenantDocuments
      .collection(syntheticVariables)
      .list({ sort: { id: 1 }, limit: maxVariables });
    const checksByVariableName = groupChecksByVariable(await readChecks(tenantDocuments));
    return {
      items: items.map((variable) => toView(variable, checksByVariableName.get(variable.id))),
      nextCursor: null,
    };
  },
});

const Body = z.strictObject({
  value: z.string().max(16_384).describe('The mask preserves the stored secret'),
  isSecret: z.boolean().default(false),
  hosts: z
    .array(HostPattern)
    .max(50)
    .default([])
    .describe('For a secret: hosts to which it may be sent. Adding hosts requires the value again'),
  description: z.string().max(4096).default(''),
});

/** Returns the stored form of a value. The mask preserves the stored value, for the same hosts or fewer. */
const toStoredValue = (
  { value, isSecret, hosts }: z.output<typeof Body>,
  before: SyntheticVariable | undefined,
  seal: (text: string) => string,
): string => {
  if (!isSecret) {
    if (value !== secretMask) return value;
    throw createFieldError('value', 'is the mask of a secret: give the value, or set `isSecret`');
  }
  if (value !== secretMask) return seal(value);
  if (before?.isSecret !== true) throw createFieldError('value', 'is the mask, but no secret is stored');
  const addedHost = hosts.find((host) => !isBoundTo(before.hosts, host));
  if (addedHost !== undefined)
    throw createFieldError(
      'value',
      `must be specified again because ${addedHost} is a new host: the stored secret is bound to the previous hosts`,
    );
  return before.value;
};

export const setVariable = defineOperation({
  method: 'PUT',
  path: '/api/synthetics/variables/{name}',
  operationId: 'setSyntheticVariable',
  summary: 'Set a variable',
  role: 'editor',
  audit: 'synthetic-variable.set',
  params: z.strictObject({ name: VariableName }),
  body: Body,
  response: VariableView,
  async handler({ caller, params, body, change }, { secretBox }) {
    if (body.isSecret && body.hosts.length === 0) throw createFieldError('hosts', 'are required for a secret');
    if (!body.isSecret && body.hosts.length > 0) throw createFieldError('hosts', 'are for secrets only');
    return change(async ({ forTenant, record, markUnchanged }) => {
      const tenantDocuments = forTenant(caller.tenantId);
      const variableCollection = tenantDocuments.collection(syntheticVariables);
      const before = await variableCollection.find(params.name);
      if (before === undefined && (await variableCollection.count()) >= maxVariables)
        throw new ApiError('CONFLICT', `there are ${maxVariables} synthetic variables: delete one first`);
      const value = toStoredValue(body, before, (text) => secretBox.seal(variablePurpose, text));
      const next: SyntheticVariable = { ...body, value };
      const checks = groupChecksByVariable(await readChecks(tenantDocuments)).get(params.name) ?? [];
      const { variables } = await readKnownNames(tenantDocuments);
      const nextVariables = new Map(variables).set(params.name, body.isSecret ? body.hosts : undefined);
      const unboundUses = checks.flatMap((check) =>
        findUnboundSecrets(check, nextVariables).map(({ message }) => ({ check, message })),
      );
      const [firstUnboundUse] = unboundUses;
      if (firstUnboundUse !== undefined)
        throw new ApiError(
          'CONFLICT',
          `the check “${firstUnboundUse.check.name}” (${firstUnboundUse.check.id}) ${firstUnboundUse.message}`,
        );
      if (before !== undefined && hasSameFields(before, next)) {
        markUnchanged();
        return toView(before, checks);
      }
      const after =
        before === undefined
          ? await variableCollection.insert({ id: params.name, ...next })
          : await variableCollection.replace(params.name, next, before.version);
      record({
        id: params.name,
        name: params.name,
        before: before && toAuditFields(before),
        after: toAuditFields(after, before),
      });
      return toView(after, checks);
    });
  },
});

export const deleteVariable = defineOperation({
  method: 'DELETE',
  path: '/api/synthetics/variables/{name}',
  operationId: 'deleteSyntheticVariable',
  summary: 'Delete a variable, unless checks use it',
  role: 'editor',
  audit: 'synthetic-variable.delete',
  params: z.strictObject({ name: VariableName }),
  response: z.strictObject({}),
  async handler({ caller, params, change }) {
    await change(async ({ forTenant, record }) => {
      const tenantDocuments = forTenant(caller.tenantId);
      const variableCollection = tenantDocuments.collection(syntheticVariables);
      const before = await variableCollection.find(params.name);
      if (before === undefined) throw createNotFoundError('synthetic variable');
      const checks = groupChecksByVariable(await readChecks(tenantDocuments)).get(params.name) ?? [];
      if (checks.length > 0) {
        const names = checks.slice(0, 10).map((check) => `“${check.name}” (${check.id})`);
        throw new ApiError('CONFLICT', `the synthetic variable is in use by ${names.join(', ')}: change them first`);
      }
      await variableCollection.delete(params.name, before.version);
      record({ id: params.name, name: params.name, before: toAuditFields(before) });
    });
    return {};
  },
});
