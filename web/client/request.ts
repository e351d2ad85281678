/** Asks the API with the session's cookie, and renews the session where its token is over. */
import { type Answered, addressOf, type Call, type Declared, type Sent } from './call.ts';

/** An answer that is none. The message is for people. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** When to ask again, where that helps by itself. */
  readonly retrySeconds: number | undefined;
  /** Whether it is asked again then, without anybody's doing. */
  isRetrying = false;

  constructor(
    message: string,
    { status, code, details = [], retrySeconds }: Pick<CallError, 'status' | 'code'> & Partial<CallError>,
  ) {
    super(message);
    this.name = 'CallError';
    this.status = status;
    this.code = code;
    this.details = details;
    this.retrySeconds = retrySeconds;
  }

  /** What is wrong with a parameter, if it is that. */
  of(path: string): string | undefined {
    return this.details.find((detail) => detail.path === path)?.message;
  }

  /** What is wrong at a path of the body, or below it. */
  at(path: string): string | undefined {
    return this.details.find((detail) => detail.path === path || detail.path.startsWith(`${path}.`))?.message;
  }
}

const unreachable = (): CallError =>
  new CallError('The server did not answer. Check the connection.', {
    status: 0,
    code: 'UNREACHABLE',
    retrySeconds: 5,
  });

const refusal = async (answer: Response): Promise<CallError> => {
  const body = (await answer.json().catch(() => ({}))) as Partial<CallError> & { readonly error?: string };
  const waits = answer.status === 429 || answer.status === 503;
  return new CallError(body.message ?? `The server answered ${answer.status}.`, {
    status: answer.status,
    code: body.error ?? 'INTERNAL',
    details: body.details ?? [],
    retrySeconds: waits ? Math.max(1, Number(answer.headers.get('retry-after') ?? 5) || 5) : undefined,
  });
};

interface Sending {
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const send = async (method: string, address: string, { body, signal, headers }: Sending = {}): Promise<Response> =>
  fetch(address, {
    method,
    credentials: 'same-origin',
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    throw error.name === 'AbortError' ? error : unreachable();
  });

/** The sign-in, which leads back here. */
export const leaveForSignIn = (): void =>
  location.replace(`/login?${new URLSearchParams({ returnTo: location.pathname + location.search })}`);

/** Renews the session, once for all tabs: another one may have done it while this one waited. */
const renewed = (): Promise<boolean> =>
  navigator.locks.request('oiq-session', async () => {
    if ((await send('GET', '/auth/session')).ok) return true;
    return (await send('POST', '/auth/refresh')).ok;
  });

/** The answer as it comes. Rejects with `CallError`; without a session it leads to the sign-in and never ends. */
const answerTo = async <Operation extends Declared>(
  call: Call<Operation>,
  sent: Sent<Operation>,
  signal?: AbortSignal,
  accept = 'application/json',
): Promise<Response> => {
  const headers = { accept, ...(sent.ifMatch === undefined ? {} : { 'if-match': `"${sent.ifMatch}"` }) };
  const once = (): Promise<Response> => send(call.method, addressOf(call, sent), { body: sent.body, signal, headers });
  let answer = await once();
  if (answer.status === 401 && (await renewed())) answer = await once();
  if (answer.status === 401) {
    leaveForSignIn();
    return new Promise(() => undefined);
  }
  if (!answer.ok) throw await refusal(answer);
  return answer;
};

/** The answer of a call, which is a text where it is YAML. Rejects as `answerTo` does. */
export const request = async <Operation extends Declared>(
  call: Call<Operation>,
  sent: Sent<Operation> = {},
  signal?: AbortSignal,
): Promise<Answered<Operation>> => {
  const answer = await answerTo(call, sent, signal);
  const isText = answer.headers.get('content-type')?.startsWith('application/yaml') === true;
  return (isText ? await answer.text() : await answer.json()) as Answered<Operation>;
};

/** The answer, and the version of what it tells, which a change of it names in `ifMatch`. */
export const requestVersioned = async <Operation extends Declared>(
  call: Call<Operation>,
): Promise<{ readonly answer: Answered<Operation>; readonly version: number }> => {
  const answer = await answerTo(call, {});
  const [, version] = /"(\d+)"/.exec(answer.headers.get('etag') ?? '') ?? [];
  return { answer: (await answer.json()) as Answered<Operation>, version: Number(version) };
};

/** Each line of an answer in lines of JSON, as it comes. Rejects as `answerTo` does. */
export async function* requestLines<Operation extends Declared>(
  call: Call<Operation>,
  sent: Sent<Operation>,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  const { body } = await answerTo(call, sent, signal, 'application/x-ndjson');
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  /** Of a line that has not ended: what came of it is looked through once, however many parts a long line comes in. */
  let rest: string[] = [];
  for (;;) {
    const { done, value } = await reader.read().catch((error: Error) => {
      throw error.name === 'AbortError' ? error : unreachable();
    });
    if (done) break;
    const [end = '', ...further] = value.split('\n');
    rest.push(end);
    for (const next of further) {
      const line = rest.join('');
      rest = [next];
      if (line !== '') yield JSON.parse(line);
    }
  }
  const last = rest.join('');
  if (last !== '') yield JSON.parse(last);
}
