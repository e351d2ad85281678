/** Every built operation over the embedded stores; and what the registry says of their audit records. */
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { examples, recordsElsewhere, unshown } from './examples.ts';
import { operationsSucceed } from './operations-success.ts';

const built = operations.filter((operation) => operation.built);
const named = ({ method, path, operationId }: Operation): string => `${operationId} (${method} ${path})`;

test('every built operation other than a GET declares its audit record, or why it leaves none', (t) => {
  const silent = built.filter(({ method, audit, unaudited }) => method !== 'GET' && audit.length === 0 && !unaudited);
  t.deepEqual(silent.map(named), []);
  t.deepEqual(built.filter(({ audit, unaudited }) => audit.length > 0 && unaudited !== undefined).map(named), []);
  for (const { audit } of built)
    for (const action of audit) t.regex(action, /^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+$/, 'actions are <type>.<verb>');
});

test('examples are of built operations', (t) => {
  const ids = new Set(built.map(({ operationId }) => operationId));
  t.deepEqual(
    Object.keys({ ...examples, ...unshown, ...recordsElsewhere }).filter((id) => !ids.has(id)),
    [],
  );
});

operationsSucceed('embedded', async () => ({}));
