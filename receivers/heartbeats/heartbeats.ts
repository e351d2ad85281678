/** Heartbeats of jobs: a request that needs only the token in its path, with a response once it is durable. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { UnavailableError } from '../../schemas/errors.ts';
import { readSourceAddress } from '../../schemas/source-address.ts';
import { type HeartbeatPing, heartbeatTickMs, maxHeartbeatMessage } from '../../schemas/synthetic-heartbeats.ts';
import { topics } from '../../schemas/topics.ts';
import { ItemLog } from '../engine/item-log.ts';
import type { HttpHandler, OpenExtraEndpoints } from '../engine/receiver.ts';
import { type Heartbeat, HeartbeatKeyring } from './heartbeat-keyring.ts';

/** Number of body bytes read before the connection is closed. */
const maxBodyBytes = 1024 * 1024;

interface TextResponse {
  readonly status: number;
  readonly text: string;
  readonly headers?: OutgoingHttpHeaders;
}

const methods = new Set<string | undefined>(['GET', 'HEAD', 'POST']);
const allowedMethods = [...methods].join(', ');
const unknownToken: TextResponse = { status: 404, text: 'there is no heartbeat with this token' };
const unknownPath: TextResponse = {
  status: 404,
  text: 'use /beats/TOKEN, /beats/TOKEN/start, /beats/TOKEN/fail or /beats/TOKEN/EXITCODE, from 0 to 255',
};
const methodNotAllowed: TextResponse = {
  status: 405,
  text: `use one of ${allowedMethods}`,
  headers: { allow: allowedMethods },
};
const invalidRunId: TextResponse = {
  status: 400,
  text: 'rid, the id of a run, must be 1 to 64 letters, digits and ._:-',
};
const tooLarge: TextResponse = {
  status: 413,
  text: `a body has at most ${maxBodyBytes} bytes; the first ${maxHeartbeatMessage} are stored`,
};
const tooMany: TextResponse = {
  status: 429,
  text: 'too many heartbeats with this token: ten a second, a hundred at once',
  headers: { 'retry-after': '1' },
};
const tooManyUnknown: TextResponse = {
  status: 429,
  text: 'too many requests with unknown tokens from this address',
  headers: { 'retry-after': '1' },
};
const accepted: TextResponse = { status: 200, text: 'OK' };
const checkDisabled: TextResponse = {
  status: 200,
  text: 'OK, but the check is disabled: this heartbeat does not count',
};

/** Returns the run signal of a path segment; undefined for an invalid one. */
const parseRunSignal = (segment: string | undefined): Pick<HeartbeatPing, 'signal' | 'exitCode'> | undefined => {
  if (segment === undefined) return { signal: 'end', exitCode: null };
  if (segment === 'start' || segment === 'fail') return { signal: segment, exitCode: null };
  return /^\d{1,3}$/.test(segment) && Number(segment) <= 255 ? { signal: 'end', exitCode: Number(segment) } : undefined;
};

const runIdPattern = /^[\w.:-]{1,64}$/;

/** Returns the beginning of a body as text; undefined if it is too large. */
const readBeginning = (request: IncomingMessage): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // Bytes after a response are read and dropped, so that the sender can finish and read it.
    request.on('data', (chunk: Buffer) => {
      if (bytes < maxHeartbeatMessage) chunks.push(chunk.subarray(0, maxHeartbeatMessage - bytes));
      bytes += chunk.length;
      if (bytes > maxBodyBytes) resolve(undefined);
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8').trim()));
    request.on('error', reject);
    request.on('close', () => reject(new UnavailableError('the connection was closed before the body was complete')));
  });

type RunSignal = Pick<HeartbeatPing, 'signal' | 'exitCode' | 'runId'>;

/** Parses a URL: token and run signal. */
const parseUrl = (url: string): { readonly token: string; readonly result: RunSignal | TextResponse } => {
  // Tokens and signals need no escapes, so only the query is decoded.
  const queryAt = url.indexOf('?');
  const [path, query] = queryAt < 0 ? [url, ''] : [url.slice(0, queryAt), url.slice(queryAt)];
  const [token = '', ...segments] = path.slice('/beats/'.length).split('/');
  const signal = segments.length > 1 ? undefined : parseRunSignal(segments[0]);
  const run = query === '' ? undefined : (new URLSearchParams(query).get('rid') ?? undefined);
  if (signal === undefined) return { token, result: unknownPath };
  if (run !== undefined && !runIdPattern.test(run)) return { token, result: invalidRunId };
  return { token, result: { ...signal, runId: run ?? '' } };
};

interface HeartbeatRequest extends RunSignal {
  readonly heartbeat: Heartbeat;
}

/** Opens `/beats/…` on both ingest addresses. For each organization, regularly publishes that heartbeats are being received. */
export const openHeartbeats: OpenExtraEndpoints = async ({
  documents,
  keyring: organizations,
  producer,
  limits,
  freshness,
  inFlight,
  ...services
}) => {
  const { resolveSource, metrics, clock, log } = services;
  const keyring = await HeartbeatKeyring.load(documents, organizations);
  const heartbeatLog = new ItemLog(producer, topics.syntheticHeartbeats, 'heartbeats');

  const rejectUnknown = async (request: IncomingMessage): Promise<TextResponse> => {
    const source = readSourceAddress(request, resolveSource);
    return (await limits.countFailure(source)) === undefined ? unknownToken : tooManyUnknown;
  };

  /** Returns the request, or the response that rejects it. */
  const authorize = async (request: IncomingMessage): Promise<HeartbeatRequest | TextResponse> => {
    if (!methods.has(request.method)) return methodNotAllowed;
    freshness.check();
    const { token, result } = parseUrl(request.url ?? '');
    const heartbeat = keyring.lookup(token);
    if (heartbeat === undefined) return rejectUnknown(request);
    if ('status' in result) return result;
    if (!(await limits.countHeartbeat(`${heartbeat.tenantId}/${heartbeat.checkId}`))) return tooMany;
    return { ...result, heartbeat };
  };

  const handleHeartbeat = async (request: IncomingMessage, response: ServerResponse): Promise<TextResponse> => {
    const outcome = await authorize(request);
    if ('status' in outcome) return outcome;
    const { heartbeat, ...runSignal } = outcome;
    if (!heartbeat.enabled) return checkDisabled;
    if (request.headers.expect !== undefined) response.writeContinue();
    const message = request.method === 'POST' ? await readBeginning(request) : '';
    if (message === undefined) return tooLarge;
    const { tenantId, checkId, projectId } = heartbeat;
    await heartbeatLog.add({
      ...runSignal,
      kind: 'beat',
      tenantId,
      checkId,
      projectId,
      receivedMs: clock.now(),
      message,
    });
    return accepted;
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, text, headers } = await handleHeartbeat(request, response).catch((error: unknown): TextResponse => {
      if (!(error instanceof UnavailableError)) log.warn({ error }, 'a heartbeat was not accepted');
      return {
        status: 503,
        text: 'the heartbeat was not stored: send it again',
        headers: { 'retry-after': String((error instanceof UnavailableError && error.retryAfterSeconds) || 1) },
      };
    });
    metrics.add('oiq_beats_total', 1, { status: String(status) });
    if (response.destroyed || response.headersSent) return;
    // The rest of a body is not awaited.
    if (inFlight.isDraining || !request.complete) response.shouldKeepAlive = false;
    const body = `${text}\n`;
    response
      .writeHead(status, {
        'content-type': 'text/plain; charset=utf-8',
        'content-length': Buffer.byteLength(body),
        'cache-control': 'no-store',
        ...headers,
      })
      .end(request.method === 'HEAD' ? undefined : body);
  };

  const handler: HttpHandler = (request, response) => {
    if (request.url?.startsWith('/beats/') !== true) return false;
    inFlight.enter();
    void respond(request, response).finally(() => inFlight.leave());
    return true;
  };

  const publishReceptionMessages = (): void => {
    // If the bus rejects the message, the processor detects the gap, and requests receive errors.
    for (const tenantId of keyring.tenants())
      heartbeatLog.add({ kind: 'pulse', tenantId, receivedMs: clock.now() }).catch(() => undefined);
  };
  publishReceptionMessages();
  const receptionTimer = setInterval(publishReceptionMessages, heartbeatTickMs);
  receptionTimer.unref();
  return {
    handlers: { HTTP_ADDRESS: handler, OTLP_HTTP_ADDRESS: handler },
    async close() {
      clearInterval(receptionTimer);
      await heartbeatLog.drain();
      await keyring.close();
    },
  };
};
