/** What the engine's error codes of failed reads mean for the caller. */
import test from 'ava';
import { toInsertError, toQueryError, toRejectionError } from '../../adapters/columns-sql/engine-errors.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';

const codes: readonly [
  what: string,
  code: number | undefined,
  error: typeof UnavailableError | typeof PermanentError,
][] = [
  ['no answer', undefined, UnavailableError],
  ['a timeout', 159, UnavailableError],
  ['insufficient memory', 241, UnavailableError],
  ['memory that the system does not give', 173, UnavailableError],
  ['an unreachable shard', 279, UnavailableError],
  ['a shard that is lost during its response', 32, UnavailableError],
  ['a shard with a broken socket', 95, UnavailableError],
  ['too many concurrent statements', 202, UnavailableError],
  ['no thread for a statement', 439, UnavailableError],
  ['a server that shuts down', 236, UnavailableError],
  ['a statement that is killed on the server', 394, UnavailableError],
  ['a table that a server lacks', 60, UnavailableError],
  ['a machine so busy that the server drops connections', 745, UnavailableError],
  ['more rows than are allowed', 158, PermanentError],
  ['a value of another type', 53, PermanentError],
];
for (const [what, code, error] of codes)
  test(`${what} is ${error === UnavailableError ? 'retried later' : 'reported to the caller'}`, (t) => {
    t.true(toQueryError(code, new Error('Code: 1. DB::Exception: why')) instanceof error);
  });

test('a statement that the engine cannot parse is an internal error', (t) => {
  const error = toQueryError(62, new Error('Code: 62. DB::Exception: Syntax error\n0. StackTrace'));
  t.false(error instanceof UnavailableError || error instanceof PermanentError);
  t.is(error.message, 'the query failed: Syntax error');
});

const failed = `Code: 279. DB::Exception: All connection tries failed. Log: 

Code: 210. DB::NetException: Connection refused (10.0.0.7:9000). (NETWORK_ERROR) (version 26.7.2.1)
Code: 210. DB::NetException: Connection refused (10.0.0.7:9000). (NETWORK_ERROR) (version 26.7.2.1)

: While executing Remote. (ALL_CONNECTION_TRIES_FAILED) (version 26.7.2.1)`;
const refused = 'Code: 516. DB::Exception: oiq: Authentication failed: password is incorrect\n\nIf you use …';

const cases: readonly [what: string, error: Error | undefined, message: RegExp][] = [
  [
    'an unresponsive shard, with the reason once',
    toQueryError(279, new Error(failed)),
    /^a server of the ClickHouse cluster does not answer: Connection refused \(10\.0\.0\.7:9000\)$/,
  ],
  [
    'a shard without a table',
    toQueryError(
      279,
      new Error(failed.replace(/Code: 210.*\n/g, 'There is no table `oiq`.`logs` on server: 10.0.0.7:9000\n')),
    ),
    /lacks a table or column \(There is no table `oiq`\.`logs` on server: 10\.0\.0\.7:9000\): run oiq migrate/,
  ],
  [
    'a shard without a column',
    toQueryError(47, new Error("Code: 47. DB::Exception: Identifier '__table1.extra' cannot be resolved from table")),
    /lacks a table or column .*: run oiq migrate/,
  ],
  [
    'a server that refuses the user',
    toRejectionError('a:8123', 516, new Error(refused)),
    /^the ClickHouse server a:8123 refuses the user of OIQ_CLICKHOUSE_URL \(oiq: Authentication failed: password is incorrect\)/,
  ],
  [
    'a server that another one refuses',
    toRejectionError('a:8123', 516, new Error(refused.replace('oiq:', 'Received from b:9000. DB::Exception: oiq:'))),
    /^the ClickHouse server b:9000 refuses a:8123, .* \(oiq: Authentication failed: password is incorrect\)/,
  ],
  [
    'a read-only replica',
    toRejectionError('a:8123', 242, new Error('Code: 242. DB::Exception: Table is in readonly mode')),
    /^the ClickHouse server a:8123 accepts no requests at the moment: Table is in readonly mode$/,
  ],
];
for (const [what, error, message] of cases)
  test(`${what} has a readable error message`, (t) => {
    t.true(error instanceof UnavailableError);
    t.regex(error?.message ?? '', message);
  });

test('a server that rejects an address is not an error of the block, which lands later', (t) =>
  t.true(toInsertError('logs', 195, new Error('Code: 195. DB::Exception: no')) instanceof UnavailableError));
