import test from 'ava';
import { mayCall } from '../../api/identity/rights.ts';
import { makeRouter } from '../../api/kernel/router.ts';

const router = makeRouter<string>();
for (const [method, path] of [
  ['GET', '/api/logs/{id}'],
  ['GET', '/api/logs/fields'],
  ['GET', '/api/logs/fields/{name}/values'],
  ['GET', '/api/{group}/fields/{name}'],
  ['DELETE', '/api/logs/{id}'],
] as const)
  router.add(method, path, `${method} ${path}`);

const find = (method: string, path: string) => router.find(method, path.split('/').slice(1));

test('literal segments outrank parameters, wherever they stand', (t) => {
  t.is(find('GET', '/api/logs/fields')?.route, 'GET /api/logs/fields');
  t.deepEqual(find('GET', '/api/logs/x'), { route: 'GET /api/logs/{id}', params: { id: 'x' }, allowed: [] });
  t.deepEqual(find('GET', '/api/logs/fields/a')?.params, { group: 'logs', name: 'a' });
  t.is(find('DELETE', '/api/logs/fields')?.route, 'DELETE /api/logs/{id}');
});

test('a path without the method names those it has; no path is nothing', (t) => {
  t.deepEqual(find('PUT', '/api/logs/fields')?.allowed, ['DELETE', 'GET']);
  t.is(find('PUT', '/api/logs/fields')?.route, undefined);
  t.is(find('GET', '/api/logs/'), undefined);
  t.is(find('GET', '/api'), undefined);
  t.is(find('GET', '/api/logs/x/y/z/w'), undefined);
});

test('a route declared twice is a mistake', (t) => {
  t.throws(() => router.add('GET', '/api/logs/{other}', 'again'), { message: /declared twice/ });
});

test('roles are a ladder, and the auditor stands beside it', (t) => {
  const table = {
    viewer: ['viewer', 'session', 'none'],
    editor: ['editor', 'viewer', 'session', 'none'],
    admin: ['admin', 'editor', 'viewer', 'auditor', 'session', 'none'],
    owner: ['owner', 'admin', 'editor', 'viewer', 'auditor', 'session', 'none'],
    auditor: ['auditor', 'viewer', 'session', 'none'],
  } as const;
  const all = ['viewer', 'editor', 'admin', 'owner', 'auditor', 'session', 'none'] as const;
  for (const role of ['viewer', 'editor', 'admin', 'owner', 'auditor'] as const)
    t.deepEqual(all.filter((access) => mayCall(role, access)).sort(), [...table[role]].sort(), role);
});
