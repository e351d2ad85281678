/** Sends API requests with the session cookie, and renews an expired session */
import { type Answered, addressOf, type Call, type Declared, type Sent } from './call.ts';

/** Thrown for a failed request; the message is for people */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** Seconds after which a retry may succeed */
  readonly retrySeconds: number | undefined;
  /** Whether the request is retried automatically */
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

  /** Returns the error of a parameter, if there is one. */
  of(path: string): string | undefined {
    return this.details.find((detail) => detail.path === path)?.message;
  }

  /** Returns the error at a path of the body, or below it. */
  at(path: string): string | undefined {
    return this.details.find((detail) => detail.path === path || detail.path.startsWith(`${path}.`))?.message;
  }
}

const unreachable = (): CallError =>
  new CallError('The server did not respond. Check the connection.', {
    status: 0,
    code: 'UNREACHABLE',
    retrySeconds: 5,
  });

const refusal = async (answer: Response): Promise<CallError> => {
  const body = (await answer.json().catch(() => ({}))) as Partial<CallError> & { readonly error?: string };
  const waits = answer.status === 429 || answer.status === 503;
  return new CallError(body.message ?? `The server returned status ${answer.status}.`, {
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

/** Redirects to the sign-in page, which returns to this page. */
export const leaveForSignIn = (): void =>
  location.replace(`/login?${new URLSearchParams({ returnTo: location.pathname + location.search })}`);

/** Renews the session, once for all tabs: another tab may have renewed it in the meantime. */
const renewed = (): Promise<boolean> =>
  navigator.locks.request('oiq-session', async () => {
    if ((await send('GET', '/auth/session')).ok) return true;
    return (await send('POST', '/auth/refresh')).ok;
  });

/**
 * Returns the response. Rejects with `CallError`; without a session, it redirects to the sign-in page and never
 * settles.
 */
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

/** Returns the body of a response, as text for YAML. Rejects like `answerTo`. */
export const request = async <Operation extends Declared>(
  call: Call<Operation>,
  sent: Sent<Operation> = {},
  signal?: AbortSignal,
): Promise<Answered<Operation>> => {
  const answer = await answerTo(call, sent, signal);
  const isText = answer.headers.get('content-type')?.startsWith('application/yaml') === true;
  return (isText ? await answer.text() : await answer.json()) as Answered<Operation>;
};

/** Returns the body, and the version of the resource for `ifMatch` of a change. */
export const requestVersioned = async <Operation extends Declared>(
  call: Call<Operation>,
): Promise<{ readonly answer: Answered<Operation>; readonly version: number }> => {
  const answer = await answerTo(call, {});
  const [, version] = /"(\d+)"/.exec(answer.headers.get('etag') ?? '') ?? [];
  return { answer: (await answer.json()) as Answered<Operation>, version: Number(version) };
};

/** Yields each line of a JSON lines response as it arrives. Rejects like `answerTo`. */
export async function* requestLines<Operation extends Declared>(
  call: Call<Operation>,
  sent: Sent<Operation>,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  const { body } = await answerTo(call, sent, signal, 'application/x-ndjson');
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  /** Parts of an incomplete line. Each part is scanned once, even if a long line has many parts. */
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
