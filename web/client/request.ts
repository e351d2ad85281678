/** Sends API requests with the session cookie, and renews an expired session */
import { type Call, type CallInput, type OperationDeclaration, type ResponseBody, toUrl } from './call.ts';

/** Error of a failed API call; the message is for users */
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

  /** Returns the error of the field at a path of the body, or of a field inside it. */
  at(path: string): string | undefined {
    return this.details.find((detail) => detail.path === path || detail.path.startsWith(`${path}.`))?.message;
  }
}

const createUnreachableError = (): CallError =>
  new CallError('The server did not respond. Check the connection.', {
    status: 0,
    code: 'UNREACHABLE',
    retrySeconds: 5,
  });

const toCallError = async (response: Response): Promise<CallError> => {
  const body = (await response.json().catch(() => ({}))) as Partial<CallError> & { readonly error?: string };
  const isRetryable = response.status === 429 || response.status === 503;
  return new CallError(body.message ?? `The server returned status ${response.status}.`, {
    status: response.status,
    code: body.error ?? 'INTERNAL',
    details: body.details ?? [],
    retrySeconds: isRetryable ? Math.max(1, Number(response.headers.get('retry-after') ?? 5) || 5) : undefined,
  });
};

interface SendOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const send = async (method: string, url: string, { body, signal, headers }: SendOptions = {}): Promise<Response> =>
  fetch(url, {
    method,
    credentials: 'same-origin',
    headers: {
      ...headers,
      ...(body === undefined
        ? {}
        : { 'content-type': body instanceof Blob ? 'application/octet-stream' : 'application/json' }),
    },
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
  }).catch((error: Error) => {
    throw error.name === 'AbortError' ? error : createUnreachableError();
  });

/** Redirects to the sign-in page, which redirects back to this page. */
export const leaveForSignIn = (): void =>
  location.replace(`/login?${new URLSearchParams({ returnTo: location.pathname + location.search })}`);

/** Renews the session unless another tab has already done so; a lock admits one tab at a time. */
const renewSession = (): Promise<boolean> =>
  navigator.locks.request('oiq-session', async () => {
    if ((await send('GET', '/auth/session')).ok) return true;
    return (await send('POST', '/auth/refresh')).ok;
  });

/**
 * Sends a call and returns the response. Rejects with `CallError`. Without a session, it redirects to the sign-in page
 * and never settles.
 */
const sendWithSession = async <Operation extends OperationDeclaration>(
  call: Call<Operation>,
  callInput: CallInput<Operation>,
  signal?: AbortSignal,
  accept = 'application/json',
): Promise<Response> => {
  const headers = { accept, ...(callInput.ifMatch === undefined ? {} : { 'if-match': `"${callInput.ifMatch}"` }) };
  const sendOnce = (): Promise<Response> =>
    send(call.method, toUrl(call, callInput), { body: callInput.body, signal, headers });
  let response = await sendOnce();
  if (response.status === 401 && (await renewSession())) response = await sendOnce();
  if (response.status === 401) {
    leaveForSignIn();
    return new Promise(() => undefined);
  }
  if (!response.ok) throw await toCallError(response);
  return response;
};

/** Sends a call and returns the response body; YAML is returned as text. Rejects like `sendWithSession`. */
export const request = async <Operation extends OperationDeclaration>(
  call: Call<Operation>,
  sent: CallInput<Operation> = {},
  signal?: AbortSignal,
): Promise<ResponseBody<Operation>> => {
  const response = await sendWithSession(call, sent, signal);
  const isText = response.headers.get('content-type')?.startsWith('application/yaml') === true;
  return (isText ? await response.text() : await response.json()) as ResponseBody<Operation>;
};

/** Sends a call and returns the response body and the resource version, which an update needs as `ifMatch`. */
export const requestVersioned = async <Operation extends OperationDeclaration>(
  call: Call<Operation>,
): Promise<{ readonly body: ResponseBody<Operation>; readonly version: number }> => {
  const response = await sendWithSession(call, {});
  const [, version] = /"(\d+)"/.exec(response.headers.get('etag') ?? '') ?? [];
  return { body: (await response.json()) as ResponseBody<Operation>, version: Number(version) };
};

/** Sends a call and yields each line of the JSON Lines response as it arrives. Rejects like `sendWithSession`. */
export async function* requestLines<Operation extends OperationDeclaration>(
  call: Call<Operation>,
  sent: CallInput<Operation>,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  const { body } = await sendWithSession(call, sent, signal, 'application/x-ndjson');
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  /** Parts of an incomplete line, joined only when the line ends, so each part is scanned once */
  let lineParts: string[] = [];
  for (;;) {
    const { done, value } = await reader.read().catch((error: Error) => {
      throw error.name === 'AbortError' ? error : createUnreachableError();
    });
    if (done) break;
    const [end = '', ...laterParts] = value.split('\n');
    lineParts.push(end);
    for (const next of laterParts) {
      const line = lineParts.join('');
      lineParts = [next];
      if (line !== '') yield JSON.parse(line);
    }
  }
  const last = lineParts.join('');
  if (last !== '') yield JSON.parse(last);
}
