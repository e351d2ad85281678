/** What the engine's codes of failed reads mean for who asked. */
import test from 'ava';
import { queryError } from '../../adapters/columns-sql/engine-errors.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';

const codes: readonly [
  what: string,
  code: number | undefined,
  error: typeof UnavailableError | typeof PermanentError,
][] = [
  ['no answer', undefined, UnavailableError],
  ['a time that is over', 159, UnavailableError],
  ['memory that is not free', 241, UnavailableError],
  ['memory that the system does not give', 173, UnavailableError],
  ['a shard that is not reached', 279, UnavailableError],
  ['a shard that is lost in the middle of its answer', 32, UnavailableError],
  ['a shard whose socket breaks', 95, UnavailableError],
  ['too many statements at once', 202, UnavailableError],
  ['no thread for a statement', 439, UnavailableError],
  ['a server that ends', 236, UnavailableError],
  ['a statement that is ended on the server', 394, UnavailableError],
  ['a machine so busy that the server drops connections', 745, UnavailableError],
  ['more rows than are allowed', 158, PermanentError],
  ['a value of another type', 53, PermanentError],
];
for (const [what, code, error] of codes)
  test(`${what} is ${error === UnavailableError ? 'asked again later' : 'for who asked to change'}`, (t) => {
    t.true(queryError(code, new Error('Code: 1. DB::Exception: why')) instanceof error);
  });

test('a statement that the engine does not understand is a fault of ours', (t) => {
  const error = queryError(62, new Error('Code: 62. DB::Exception: Syntax error\n0. StackTrace'));
  t.false(error instanceof UnavailableError || error instanceof PermanentError);
  t.is(error.message, 'the query failed: Syntax error');
});
