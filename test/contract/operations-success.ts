/**
 * Every built operation returns 200 with a declared response body, and leaves its declared audit record. With the
 * embedded stores, `security/secrets.test.ts` checks this, because it calls every operation.
 */
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { type AuditRecord, auditRecords } from '../../schemas/resources/audit-record.ts';
import type { Answer } from '../end-to-end/api-harness.ts';
import type { OperationRequest, World } from './example.ts';
import { recordsElsewhere, unshown } from './examples.ts';
import { cookiesOf, secretsIn } from './secrets.ts';
import { startWorlds } from './world.ts';

const built = operations.filter((operation) => operation.built);
const named = ({ method, path, operationId }: Operation): string => `${operationId} (${method} ${path})`;

const recordsOf = async (a: World, requestId: string | null): Promise<AuditRecord[]> => {
  const found: AuditRecord[] = [];
  for await (const record of a.harness.documents.findInAllTenants(auditRecords, { requestId })) found.push(record);
  return found;
};

/** Problems with the response to an example: undeclared or missing parts. */
export const wrongWith = async (
  a: World,
  operation: Operation,
  operationRequest: OperationRequest,
  response: Answer,
): Promise<string[]> => {
  if (response.status !== 200) return [`answered ${response.status} ${JSON.stringify(response.body).slice(0, 300)}`];
  const records = await recordsOf(a, response.headers.get('x-request-id'));
  const actions = records.map(({ action }) => action).filter((action) => !operation.audit.includes(action));
  const wrong = actions.map((action) => `recorded ${action}`);
  const expected = operation.audit.length > 0 && !(operation.operationId in recordsElsewhere);
  if (expected && records.length === 0) wrong.push('left no audit record');
  const owner = `owner@${a.tenant}.example`;
  const byOwner = operation.role !== 'none' && operationRequest.token === undefined;
  for (const { details } of byOwner ? records : [])
    if (details?.actorName !== owner) wrong.push(`recorded the actor ${details?.actorName}`);
  const recordsText = JSON.stringify(records);
  const secrets = [...secretsIn(operationRequest.body), ...secretsIn(response.body), ...cookiesOf(response)];
  return [...wrong, ...secrets.filter((secret) => recordsText.includes(secret)).map((secret) => `recorded ${secret}`)];
};

/** The suite with the stores that `options` open. */
export const operationsSucceed = (store: string, options: () => Promise<Parameters<typeof startWorlds>[0]>): void => {
  let a: World;
  let close: () => Promise<void>;
  test.before(async () => {
    const worlds = await startWorlds(await options());
    a = worlds.a;
    close = worlds.close;
  });
  test.after.always(() => close?.());

  test(`${store}: every built operation returns its declared example, and leaves its audit record`, async (t) => {
    const failures: string[] = [];
    for (const operation of built.filter(({ operationId }) => !(operationId in unshown))) {
      try {
        const operationRequest = await a.example(operation);
        const wrong = await wrongWith(a, operation, operationRequest, await a.call(operation, operationRequest));
        failures.push(...wrong.map((what) => `${named(operation)} ${what}`));
      } catch (error) {
        failures.push(`${named(operation)}: ${String(error)}`);
      }
    }
    t.deepEqual(failures, []);
  });
};
