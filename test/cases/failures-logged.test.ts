import test from 'ava';
import { ApiError, ForeignApiError } from '../../api/errors.ts';
import { logFailure } from '../../api/kernel/responses.ts';
import { UnavailableError } from '../../schemas/errors.ts';

type Ports = Parameters<typeof logFailure>[2];
type Line = readonly [string, { readonly cause?: string }];

const logged = (error: ApiError): readonly Line[] => {
  const lines: Line[] = [];
  const to =
    (level: string) =>
    (fields: object): void =>
      void lines.push([level, fields]);
  logFailure(error, { requestId: 'r', operation: 'o' }, {
    log: { warn: to('warn'), error: to('error') },
  } as unknown as Ports);
  return lines;
};

for (const [what, error, level] of [
  ['what a client got wrong', new ApiError('VALIDATION_FAILED', 'no'), undefined],
  ['an operation that is not built', new ApiError('NOT_IMPLEMENTED', 'no'), undefined],
  ['an unavailable store', new ApiError('UNAVAILABLE', 'no', { cause: new UnavailableError('away') }), 'warn'],
  [
    'a time limit requested by the client of another API',
    new ForeignApiError({ status: 503, body: {} }, new Error('timed out')),
    'warn',
  ],
  ['a fault of ours', new ApiError('INTERNAL', 'no', { cause: new Error('fault') }), 'error'],
  [
    'a fault of ours in the form of another API',
    new ForeignApiError({ status: 500, body: {} }, new Error('fault')),
    'error',
  ],
] as const)
  test(`${what} is logged ${level === undefined ? 'not at all' : `as ${level}`}, with a stack only if it is a fault`, (t) => {
    const lines = logged(error);
    t.deepEqual(
      lines.map(([each]) => each),
      level === undefined ? [] : [level],
    );
    for (const [each, { cause = '' }] of lines) t.is(cause.includes('\n'), each === 'error');
  });
