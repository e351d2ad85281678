/**
 * Removes one safeguard at a time when its file is loaded: the test that covers it must then fail. This shows that each
 * safeguard is tested. The suites themselves show that their tests pass with the safeguard.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { describePart, selectPart } from '../parts.ts';
import type { ServiceName } from '../services/definition.ts';
import { unavailable } from '../services/services.ts';
import { type Exchange, sourceReplacement } from './without-guard.ts';

interface Safeguard {
  readonly file: string;
  /** A text that occurs once in the file, and its replacement, which removes the safeguard. */
  readonly original: string;
  readonly replacement: string;
  /** A service that the test requires. */
  readonly needs?: ServiceName;
  /** The test that covers the safeguard: its file, and its title (`*` matches any text). */
  readonly guard: readonly [file: string, title: string];
}

const chdb = 'test/contract/columns-chdb.test.ts';
const sqlite = 'test/contract/documents-sqlite.test.ts';
const mongodb = 'test/contract/documents-mongodb.test.ts';
const contract = 'test/contract/operations.test.ts';

const safeguards: Readonly<Record<string, Safeguard>> = {
  'a query of columns must name the tenant': {
    file: 'adapters/columns-sql/tenant-filter.ts',
    original: 'if (!tokens.some(',
    replacement: 'if (tokens.length < 0 && !tokens.some(',
    guard: [chdb, '*query without the tenant is refused'],
  },
  'the engine filters tables by the tenant': {
    file: 'adapters/columns-sql/tenant-filter.ts',
    original: 'tenantTables.flatMap(',
    replacement: 'tenantTables.slice(0, 0).flatMap(',
    guard: [chdb, '*the engine filters what a tenant*'],
  },
  'documents are listed by the tenant': {
    file: 'adapters/documents-sqlite/tables.ts',
    original: 'WHERE collection = ? AND tenant = ? AND id >= ?',
    replacement: 'WHERE collection = ? AND tenant != (? || 0) AND id >= ?',
    guard: [sqlite, '*a tenant sees nothing of another*'],
  },
  'a document is found by the tenant': {
    file: 'adapters/documents-sqlite/tables.ts',
    original: 'FROM documents WHERE collection = ? AND tenant = ? AND id = ?`',
    replacement: 'FROM documents WHERE collection = ? AND tenant != (? || 0) AND id = ?`',
    guard: [sqlite, '*a tenant sees nothing of another*'],
  },
  'documents are keyed by tenant and id': {
    file: 'adapters/documents-sqlite/tables.ts',
    original: 'PRIMARY KEY (collection, tenant, id)',
    replacement: 'PRIMARY KEY (collection, id)',
    guard: [sqlite, '*a tenant sees nothing of another*'],
  },
  'documents of MongoDB are listed by the tenant': {
    file: 'adapters/documents-mongodb/encoding.ts',
    original: "$and: [{ '_id.tenant': tenant }, ...filters],",
    replacement: '$and: [{}, ...filters],',
    needs: 'mongodb',
    guard: [mongodb, '*a tenant sees nothing of another*'],
  },
  'documents of MongoDB are keyed by tenant and id': {
    file: 'adapters/documents-mongodb/collection.ts',
    original: 'DocumentKey => ({ tenant, id })',
    replacement: "DocumentKey => ({ tenant: 'all', id })",
    needs: 'mongodb',
    guard: [mongodb, '*a tenant sees nothing of another*'],
  },
  'live tail reads only messages of its tenant': {
    file: 'queries/live-tail/match-records.ts',
    original: 'if (tenantId === tenant && (',
    replacement: 'if (tenantId !== "" && (',
    guard: ['test/contract/live-tail-segments.test.ts', '*begins with the last records*'],
  },
  'a cookie opens a WebSocket from our own pages only': {
    file: 'api/identity/session.ts',
    original: "method === 'HEAD') && !isWebSocket)",
    replacement: "method === 'HEAD'))",
    guard: ['test/end-to-end/live-tail.test.ts', 'nobody can connect without the permissions*'],
  },
  'the path names no other tenant': {
    file: 'api/kernel/server.ts',
    original: 'requireSameTenant(caller.tenantId, tenantId);',
    replacement: '',
    guard: [contract, '*under another organization*prefix*'],
  },
  'the query names no other tenant': {
    file: 'api/kernel/server.ts',
    original: "requireSameTenant(caller.tenantId, query['tenantId']);",
    replacement: '',
    guard: [contract, '*a query and a body that name another organization'],
  },
  'the body names no other tenant': {
    file: 'api/kernel/server.ts',
    original: 'getBodyTenant(body)',
    replacement: 'undefined',
    guard: [contract, '*a query and a body that name another organization'],
  },
  'the role suffices': {
    file: 'api/kernel/admission.ts',
    original: '!satisfiesAccess(caller.role, role)',
    replacement: 'false',
    guard: [contract, '*viewer may not call*'],
  },
  'a token’s scopes suffice': {
    file: 'api/kernel/admission.ts',
    original: 'requireScope(caller, operation);',
    replacement: '',
    guard: ['test/end-to-end/api-service-accounts.test.ts', 'a token of * gets 403 *'],
  },
  'the plan suffices': {
    file: 'api/kernel/admission.ts',
    original: '!caller.plan.entitlements.includes(entitlement)',
    replacement: 'false',
    guard: [contract, '*entitlement the plan lacks*'],
  },
  'a cookie is valid only for our own pages': {
    file: 'api/identity/cookies.ts',
    original: 'if (!isOwnPage)',
    replacement: 'if (false)',
    guard: ['test/end-to-end/api-session.test.ts', '*requires an origin of this installation'],
  },
  'an operation reads only data of the tenant': {
    file: 'api/groups/dead-letter/dead-letters.ts',
    original: 'deadLetters.show(params.id, caller.tenantId, signal)',
    replacement: 'deadLetters.show(params.id, undefined, signal)',
    guard: ['test/security/isolation.test.ts', 'another organization*'],
  },
  'a result is cached by permissions': {
    file: 'api/kernel/result-cache.ts',
    original: '{ rights: permissions, request }',
    replacement: '{ request, role: permissions.role }',
    guard: ['test/cases/api-result-cache.test.ts', '*never shares a result'],
  },
};

const root = new URL('../../', import.meta.url);

const missing = (needs: ServiceName | undefined): string | undefined =>
  needs === undefined ? undefined : unavailable(needs);

interface Outcome {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly output: string;
}

/** Runs tests of a file with a modified source file. A file that fails to load counts as neither passed nor failed. */
const guardWith = (exchange: Exchange, file: string, titles: readonly string[]): Promise<Outcome> => {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const { AVA_PATH: _, ...environment } = process.env;
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('node_modules/ava/entrypoints/cli.js', root)),
      ...['--tap', '--concurrency=1', ...titles.flatMap((title) => ['--match', title]), file],
    ],
    {
      cwd: root,
      env: {
        ...environment,
        [sourceReplacement]: JSON.stringify(exchange),
        NODE_OPTIONS: `${environment['NODE_OPTIONS'] ?? ''} --import=${new URL('without-guard.ts', import.meta.url)}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  child.on('error', reject);
  child.on('close', () => {
    const results = [...output.matchAll(/^(not )?ok \d+ - (.*)$/gm)].filter(
      ([, , name = '']) => !/exited|No tests|Uncaught/.test(name),
    );
    const failed = results.filter(([, not]) => not !== undefined).map(([, , name = '']) => name);
    resolve({ passed: results.length - failed.length, failed, output });
  });
  return promise;
};

test.serial('guards pass if the safeguard is replaced by itself', async (t) => {
  const { file, original } = safeguards['the role suffices'] as Safeguard;
  const guards = Object.values(safeguards).filter(({ guard: [guard] }) => guard === contract);
  const titles = [...new Set(guards.map(({ guard: [, title] }) => title))];
  const exchange = { url: new URL(file, root).href, original, replacement: original };
  const { passed, failed, output } = await guardWith(exchange, contract, titles);
  t.deepEqual(failed, [], output);
  t.true(passed >= titles.length, output);
});

test('each safeguard occurs once in the file that it names', (t) => {
  for (const { file, original } of Object.values(safeguards)) {
    const source = readFileSync(new URL(file, root), 'utf8');
    t.is(source.split(original).length, 2, `${file} contains the safeguard once: ${original}`);
  }
});

/** The source of a test file and of the suites that it imports. */
const readSuite = (file: string): string => {
  const urls = new Set([new URL(file, root).href]);
  let text = '';
  // The loop visits URLs that are added during the iteration.
  for (const url of urls) {
    const source = readFileSync(new URL(url), 'utf8');
    text += source;
    for (const [, path = ''] of source.matchAll(/^(?:import .*|} )from '(\.\/[^']+\.ts)'/gm))
      urls.add(new URL(path, url).href);
  }
  return text;
};

/** Returns whether some text matches both patterns; `*` in a pattern matches any text. */
const canBothMatch = (one: string, other: string): boolean => {
  if (one === '' || other === '') return /^\**$/.test(one + other);
  if (one[0] === '*') return canBothMatch(one.slice(1), other) || canBothMatch(one, other.slice(1));
  if (other[0] === '*') return canBothMatch(other, one);
  return one[0] === other[0] && canBothMatch(one.slice(1), other.slice(1));
};

test('each guard is the title of a test in its file, also of those that other runs select', (t) => {
  for (const [title, { guard }] of Object.entries(safeguards)) {
    const [file, pattern] = guard;
    const titles = [...readSuite(file).matchAll(/\b(?:test|serial|skip)\(\s*(['`])((?:(?!\1|\n).)+)\1/g)].map(
      ([, , text = '']) => text.replaceAll(/\$\{[^}]*\}/g, '*'),
    );
    const known = titles.filter((text) => canBothMatch(text, pattern));
    t.true(known.length > 0, `${title}: ${file} has no test "${pattern}"`);
  }
});

/** The run starts a process for each safeguard. */
const chosen = selectPart(Object.entries(safeguards), 5);

test('safeguards are selected at random', (t) => {
  t.log(
    describePart(
      chosen.map(([title]) => title),
      Object.keys(safeguards),
    ),
  );
  t.true(chosen.length > 0);
});

for (const [
  title,
  {
    file,
    original,
    replacement,
    needs,
    guard: [guard, guarding],
  },
] of chosen) {
  const serial = missing(needs) === undefined ? test.serial : test.serial.skip;
  serial(`removing the safeguard that ${title} makes its guard fail`, async (t) => {
    const url = new URL(file, root);
    const { failed, output } = await guardWith({ url: url.href, original, replacement }, guard, [guarding]);
    t.true(failed.length > 0, output);
  });
}
