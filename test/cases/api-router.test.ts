import test from 'ava';
import { satisfiesAccess } from '../../api/callers/rights.ts';
import { createRouter } from '../../api/kernel/router.ts';

const router = createRouter<string>();
for (const [method, path] of [
  ['GET', '/api/logs/{id}'],
  ['GET', '/api/logs/fields'],
  ['GET', '/api/logs/fields/{name}/values'],
  ['GET', '/api/logs/{id}/fields'],
  ['DELETE', '/api/logs/{id}'],
  ['POST', '/auth/login'],
] as const)
  router.add(method, path, `${method} ${path}`);

test('literal segments take precedence over parameters in every position', (t) => {
  t.is(router.find('GET', '/api/logs/fields')?.route, 'GET /api/logs/fields');
  t.deepEqual(router.find('GET', '/api/logs/x'), { route: 'GET /api/logs/{id}', params: { id: 'x' }, allowed: [] });
  t.deepEqual(router.find('GET', '/api/logs/fields/a/values')?.params, { name: 'a' });
  t.deepEqual(router.find('GET', '/api/logs/fields/fields')?.params, { id: 'fields' });
});

test('only the most literal path determines the allowed methods', (t) => {
  t.deepEqual(router.find('PUT', '/api/logs/fields'), { route: undefined, params: {}, allowed: ['GET'] });
  t.is(router.find('DELETE', '/api/logs/fields')?.route, undefined);
  t.deepEqual(router.find('PUT', '/api/logs/x')?.allowed, ['DELETE', 'GET']);
});

test('an undeclared path is not found', (t) => {
  for (const path of [
    '/api/logs/',
    '/api/logs',
    '/api',
    '/api/',
    '/',
    '',
    '/api/logs/x/y/z/w',
    '/API/logs/x',
    '/api/Logs/x',
    '/auth/login/',
    '/auth',
    '/api/tenants/a',
    '/api/tenants/a/auth/login',
  ])
    t.is(router.find('GET', path), undefined, path);
});

test('paths under /api/ are also available under /api/tenants/{tenantId}/, and no other paths are', (t) => {
  t.deepEqual(router.find('GET', '/api/tenants/a%2Fb/logs/x'), {
    route: 'GET /api/logs/{id}',
    params: { tenantId: 'a/b', id: 'x' },
    allowed: [],
  });
  t.is(router.find('POST', '/auth/login')?.route, 'POST /auth/login');
  t.is(router.find('POST', '/api/tenants/a/login'), undefined);
});

test('a path has one meaning regardless of its percent-encoding', (t) => {
  t.is(router.find('GET', '/api/%6Cogs/%66ields')?.route, 'GET /api/logs/fields');
  t.deepEqual(router.find('GET', '/api/logs/a%2Fb%20%E2%82%AC')?.params, { id: 'a/b €' });
  t.deepEqual(router.find('GET', '/api/logs/a+b:c@d')?.params, { id: 'a+b:c@d' });
  for (const path of ['/api/logs/%', '/api/logs/%zz', '/api/logs/%FF', '/api/tenants/%FF/logs/x'])
    t.throws(() => router.find('GET', path), { message: /percent-encoded/ }, path);
});

test('a route declared twice throws an error', (t) => {
  t.throws(() => router.add('GET', '/api/logs/{other}', 'again'), { message: /declared twice/ });
});

test('roles are hierarchical, and the auditor is outside the hierarchy', (t) => {
  const table = {
    viewer: ['viewer', 'session', 'none'],
    editor: ['editor', 'viewer', 'session', 'none'],
    admin: ['admin', 'editor', 'viewer', 'auditor', 'session', 'none'],
    owner: ['owner', 'admin', 'editor', 'viewer', 'auditor', 'session', 'none'],
    auditor: ['auditor', 'viewer', 'session', 'none'],
  } as const;
  const all = ['viewer', 'editor', 'admin', 'owner', 'auditor', 'session', 'none'] as const;
  for (const role of ['viewer', 'editor', 'admin', 'owner', 'auditor'] as const)
    t.deepEqual(all.filter((access) => satisfiesAccess(role, access)).sort(), [...table[role]].sort(), role);
});
