/** The API while MongoDB or Redis is down: it refuses in time, grants no access, and recovers without a restart. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService, unavailable } from '../services/services.ts';
import { eventually, stretched } from '../waiting.ts';
import { type OiqProcess, owner, signIn, startOiq } from './oiq-process.ts';

const missing = unavailable('mongodb') ?? unavailable('redis');
const serial = missing === undefined ? test.serial : test.serial.skip;

const directory = mkdtempSync(join(tmpdir(), 'oiq-api-outages-'));
let mongodb: Instance;
let redis: Instance;
let oiq: OiqProcess;
let token: string;

test.before(async () => {
  if (missing !== undefined) return;
  const [mongodbPort = 0, redisPort = 0] = await freePorts(2);
  [mongodb, redis] = await Promise.all([
    startService('mongodb', { port: mongodbPort, directory: join(directory, 'mongodb') }),
    startService('redis', { port: redisPort, directory: join(directory, 'redis') }),
  ]);
  oiq = await startOiq({
    dataDirectory: join(directory, 'data'),
    environment: { OIQ_MONGODB_URL: mongodb.url, OIQ_REDIS_URL: redis.url },
  });
  token = await signIn(oiq.http);
});
test.after.always(async () => {
  await oiq?.kill();
  await Promise.all([mongodb?.kill(), redis?.kill()]);
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** Longer than any request may take during an outage. */
const patienceMs = 60_000;

const request = async (
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; retryAfter: string | null }> => {
  const response = await fetch(`${oiq.http}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    signal: AbortSignal.timeout(stretched(patienceMs)),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
};

const statusOf = async (method: string, path: string, body?: unknown): Promise<number> =>
  (await request(method, path, body)).status;

/** Repeats a request until it returns the expected status. Returns all statuses. */
const untilStatus = async (expectedStatus: number, method: string, path: string, body?: unknown): Promise<number[]> => {
  const seen: number[] = [];
  await eventually(`${method} ${path} returns ${expectedStatus}`, async () => {
    seen.push(await statusOf(method, path, body));
    return seen.at(-1) === expectedStatus;
  });
  return seen;
};

const concrete = (path: string): string => path.replace(/\{\w+\}/g, 'x');

serial(
  'without MongoDB all operations that need permissions return 503 in time, and all work again once it is back',
  async (t) => {
    await untilStatus(200, 'GET', '/auth/session');
    await mongodb.kill();
    const before = await untilStatus(503, 'GET', '/auth/session');
    t.deepEqual(
      before.filter((status) => status !== 200 && status !== 503),
      [],
    );
    t.is((await request('GET', '/auth/session')).retryAfter, '2');

    const responses = await Promise.all(
      operations
        .filter(({ built, role }) => built && role !== 'none')
        .map(async ({ method, path }) => [`${method} ${path}`, await statusOf(method, concrete(path))] as const),
    );
    t.deepEqual(
      responses.filter(([, status]) => status !== 503),
      [],
    );
    t.is(await statusOf('POST', '/auth/login', owner), 503);
    t.is(await statusOf('GET', '/healthz'), 200);
    t.is(await statusOf('GET', '/auth/jwks.json'), 200);
    t.is(await statusOf('GET', '/readyz'), 503);

    await mongodb.start();
    await untilStatus(200, 'GET', '/auth/session');
    await untilStatus(200, 'POST', '/auth/login', owner);
    await untilStatus(200, 'GET', '/readyz');
  },
);

serial('while MongoDB hangs /readyz responds and names it', async (t) => {
  await mongodb.hang();
  try {
    const expected = {
      api: 'the documents store does not respond',
      processors: 'the documents store does not respond',
    };
    let [status, reasons] = [0, {}];
    // On a busy machine another store may be slow for a moment.
    await eventually('no other reason', async () => {
      const response = await fetch(`${oiq.http}/readyz`, { signal: AbortSignal.timeout(stretched(patienceMs)) });
      status = response.status;
      ({ reasons } = (await response.json()) as { reasons: Record<string, string> });
      return isDeepStrictEqual(reasons, expected);
    }).catch((cause: Error) => t.log(cause.message));
    t.is(status, 503);
    t.deepEqual(reasons, expected);
  } finally {
    mongodb.resume();
  }
  await untilStatus(200, 'GET', '/readyz');
});

serial('without Redis sign-ins are still limited, and nothing else stops', async (t) => {
  // Before 200, only 503 is allowed, because the store was just unavailable.
  const answers200 = async (method: string, path: string, body?: unknown): Promise<void> => {
    const responses = await untilStatus(200, method, path, body);
    t.deepEqual(
      [...new Set(responses.slice(0, -1))].filter((status) => status !== 503),
      [],
      path,
    );
  };
  await answers200('GET', '/auth/session');
  await redis.kill();
  for (const path of ['/auth/session', '/api/logs', '/api/traces?scope=account']) await answers200('GET', path);
  await answers200('POST', '/auth/login', owner);
  const wrong = { email: 'nobody@example.com', password: 'wrong' };
  const apiResponses = (await untilStatus(429, 'POST', '/auth/login', wrong)).filter((status) => status !== 503);
  t.deepEqual(
    apiResponses.filter((status) => status !== 401 && status !== 429),
    [],
  );
  t.true(apiResponses.length <= 30, `${apiResponses.length} attempts were allowed`);
  await redis.start();
  await answers200('GET', '/api/logs');
  await answers200('POST', '/auth/login', owner);
});
