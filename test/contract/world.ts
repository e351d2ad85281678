/** Sends a successful request to every operation in the registry, with IDs of existing objects. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { operations, resources } from '../../api/groups/index.ts';
import { hashPassword } from '../../api/identity/password.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import type { RegisteredResource } from '../../api/resources/resource.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';
import { type Answer, type Harness, password, startHarness, withRetries } from '../end-to-end/api-harness.ts';
import type { Example, OperationRequest, World } from './example.ts';
import { examples } from './examples.ts';
import { newBody } from './resource-bodies.ts';
import { sampleOf, schemaOf } from './schema-values.ts';
import { seedTelemetry } from './telemetry.ts';

export const operationOf = (operationId: string): Operation => {
  const operation = operations.find((one) => one.operationId === operationId);
  if (operation === undefined) throw new Error(`there is no operation ${operationId}`);
  return operation;
};

/** The operation that creates the objects of `/api/things/{id}`: POST on the path before the parameter. */
const makerOf = ({ path }: Operation): Operation | undefined => {
  const parent = path.slice(0, path.indexOf('/{'));
  return operations.find((one) => one.built && one.method === 'POST' && one.path === parent);
};

/** The resource that an operation creates or changes. */
const writtenBy = ({ path, method }: Operation): RegisteredResource | undefined =>
  resources.find((one) => path === (method === 'POST' ? one.path : `${one.path}/{id}`));

/** The ID in a response, at its top level or one level below. */
const idIn = (body: Answer['body']): string | undefined => {
  if (typeof body?.id === 'string') return body.id;
  const inner = Object.values<Answer['body']>(body ?? {}).find((value) => typeof value?.id === 'string');
  return inner?.id;
};

export const pathOf = ({ path }: Operation, { params = {}, query = {} }: OperationRequest): string => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? 'no-such-thing'));
  const parameters = String(new URLSearchParams(query));
  return parameters === '' ? filled : `${filled}?${parameters}`;
};

export const worldOf = async (harness: Harness, tenant: string): Promise<World> => {
  const token = await harness.signIn(`owner@${tenant}.example`);
  const passwordHash = await hashPassword(password);

  const bodyOf = async (operation: Operation, schema: z.ZodType): Promise<unknown> => {
    const resource = writtenBy(operation);
    if (resource === undefined) return sampleOf(schemaOf(schema));
    const created = await newBody(resource, async ({ path }) => {
      const maker = operations.find((one) => one.method === 'POST' && one.path === path);
      return idIn(await world.make(maker?.operationId ?? '')) ?? '';
    });
    if (operation.method === 'POST') return created;
    return Object.fromEntries(Object.entries(created).filter(([name]) => name in resource.fields.shape));
  };

  const derived = async (operation: Operation): Promise<OperationRequest> => {
    const maker = operation.path.includes('/{') ? makerOf(operation) : undefined;
    const [, name = 'id'] = /\{(\w+)\}/.exec(operation.path) ?? [];
    const id = maker && idIn(await world.make(maker.operationId));
    return {
      ...(id === undefined ? {} : { params: { [name]: id } }),
      ...(operation.body === undefined ? {} : { body: await bodyOf(operation, operation.body) }),
      ...(operation.versions === 'require' ? { headers: { 'if-match': '*' } } : {}),
    };
  };

  const world: World = {
    harness,
    tenant,
    token,
    async person(role) {
      const email = `${role}-${randomUUID()}@${tenant}.example`;
      const user = await harness.documents
        .forTenant(usersTenant)
        .collection(users)
        .insert({ email, name: role, passwordHash, disabled: false });
      await harness.documents.forTenant(tenant).collection(memberships).insert({ id: user.id, role });
      return { id: user.id, email, password, token: await harness.signIn(email) };
    },
    async example(operation) {
      const input: Example | undefined = examples[operation.operationId];
      const own = typeof input === 'function' ? await input(world) : input;
      const needed = own === undefined || (operation.path.includes('/{') && own.params === undefined);
      return { ...(needed ? await derived(operation) : {}), ...own };
    },
    call: (operation, request) =>
      harness.request(operation.method, pathOf(operation, request), {
        as: request.token === '' ? 'nobody' : `token ${request.token ?? token}`,
        ...(request.body === undefined ? {} : { body: operation.form ? formOf(request.body) : request.body }),
        headers: { ...(operation.form ? formHeaders : {}), ...request.headers },
      }),
    async make(operationId, request) {
      const operation = operationOf(operationId);
      const response = await world.call(operation, request ?? (await world.example(operation)));
      if (response.status !== 200)
        throw new Error(`${operationId} answered ${response.status}: ${JSON.stringify(response.body)}`);
      return response.body;
    },
  };
  return world;
};

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };
const formOf = (body: unknown): string => new URLSearchParams(Object.entries(body as object)).toString();

/** The harness with telemetry in both organizations. A 503 is retried. */
export const startWorlds = async (
  options?: Parameters<typeof startHarness>[0],
): Promise<{ harness: Harness; a: World; b: World; close(): Promise<void> }> => {
  // Optional features are enabled, so that they can be tested.
  const environment = {
    OIQ_SELF_SIGNUP: 'true',
    OIQ_MORE_ORGANIZATIONS: 'true',
    OIQ_SELF_SERVICE_PLANS: 'true',
    ...options?.environment,
  };
  const harness = withRetries(await startHarness({ ...options, environment }));
  await seedTelemetry(harness, 'a');
  await seedTelemetry(harness, 'b');
  const [a, b] = [await worldOf(harness, 'a'), await worldOf(harness, 'b')];
  return { harness, a, b, close: () => harness.close() };
};
