/** API operations that the page calls, and operations that it does not call. */
import '../../subjects/query-kinds.ts';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { operations } from '../../api/groups/index.ts';

const web = fileURLToPath(new URL('../../web', import.meta.url));

/** Method and path of each call that the page declares. */
const declaredCalls = new Set(
  globSync('**/*.{ts,tsx}', { cwd: web })
    .map((file) => readFileSync(`${web}/${file}`, 'utf8'))
    .flatMap((source) => [
      ...[...source.matchAll(/\bdeclareCall<[^(]*>\(\s*'([A-Z]+)',\s*'([^']+)'/g)].map(
        ([, method, path]) => `${method} ${path}`,
      ),
      ...[...source.matchAll(/\bdeclareListCall<[^(]*>\(\s*'([^']+)'/g)].map(([, path]) => `GET ${path}`),
      ...[...source.matchAll(/\bdeclareCreateCall<[^(]*>\(\s*'([^']+)'/g)].map(([, path]) => `POST ${path}`),
    ]),
);

test('the page calls operations that are built', (t) => {
  const built = new Set(operations.filter(({ built }) => built).map(({ method, path }) => `${method} ${path}`));
  t.true(declaredCalls.size > 20);
  t.deepEqual(
    [...declaredCalls].filter((call) => !built.has(call)),
    [],
  );
});

test('built operations that the page does not call are listed', (t) => {
  const missing = operations.filter(
    ({ built, hidden, method, path }) => built && !hidden && !declaredCalls.has(`${method} ${path}`),
  );
  for (const [group, those] of Map.groupBy(missing, ({ group }) => group))
    t.log(`${group}: ${those.map(({ method, path }) => `${method} ${path}`).join(', ')}`);
  t.pass(`${missing.length} of ${operations.length}`);
});
