/** Writes responses: JSON, streams, pages, redirects and errors. */
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import type { Context } from 'koa';
import type { BrowserScriptName, PageFile, Restriction } from '../../web/index.ts';
import { ApiError, ForeignApiError } from '../errors.ts';
import { findPageFile, loadBrowserScript, parseFileName, renderBuiltPage } from '../page/built-page.ts';
import { findDocsImage, isDocsPath, loadDocsPage } from '../page/docs/docs.ts';
import type { Page } from '../page/html.ts';
import { findSmallPage, notFoundPage } from '../page/page.ts';
import { playerPage } from '../page/player.ts';
import { referencePage } from '../page/reference.ts';
import { createAsyncApiDocument } from './asyncapi.ts';
import { compressText } from './compression.ts';
import { matchesTag } from './if-none-match.ts';
import { createOpenApiDocument, type DocumentedGroup } from './openapi.ts';
import type { ContentResponse, Operation } from './operation.ts';
import type { Ports } from './ports.ts';
import type { Stream } from './stream.ts';

export const jsonType = 'application/json; charset=utf-8';
const htmlType = 'text/html; charset=utf-8';

const sendBody = (context: Context, type: string, body: unknown, status = 200): void => {
  context.status = status;
  context.set('Content-Type', type);
  if (Array.isArray(body)) sendChunks(context, body);
  else context.body = body;
};

const sendChunks = (context: Context, chunks: readonly Uint8Array[]): void => {
  context.body = Readable.from(chunks);
  context.length = chunks.reduce((length, chunk) => length + chunk.length, 0);
};

const sendPage = (context: Context, { body, policy }: Page, status = 200): void => {
  context.set('Content-Security-Policy', policy);
  context.set('Referrer-Policy', 'same-origin');
  sendBody(context, htmlType, body, status);
};

export const sendResult = (context: Context, operation: Operation, result: unknown, { log }: Ports): void => {
  if (operation.contentTypes.length === 1) {
    sendBody(context, operation.contentType, result);
    return;
  }
  const { contentType, content, status } = result as ContentResponse;
  const { requestId } = context.state;
  // The status was already sent: only the broken connection and this log line show the error.
  if (content instanceof Readable)
    content.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE')
        log.error({ requestId, operation: operation.operationId, error }, 'a response was interrupted');
    });
  sendBody(context, contentType, content, status);
};

export const sendRedirect = (context: Context, location: string): void => {
  context.status = 303;
  context.set('Location', location);
};

/** A file name always has the same content, so browsers can cache it permanently. */
const sendFile = async (context: Context, name: string): Promise<void> => {
  const file = await findPageFile(name);
  if (file === undefined) throw new ApiError('NOT_FOUND', `the page has no file ${name}`);
  context.set('Cache-Control', 'public, max-age=31536000, immutable');
  sendCompressed(context, file);
};

const sendCompressed = (context: Context, { contentType, content }: PageFile): void => {
  context.vary('Accept-Encoding');
  const acceptsGzip = context.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (acceptsGzip) context.set('Content-Encoding', 'gzip');
  sendBody(context, contentType, acceptsGzip ? content : gunzipSync(content));
};

/** Sends a script for pages of any origin. Their address has no version, so browsers ask again every hour. */
const createScriptHandler =
  (name: BrowserScriptName) =>
  async (context: Context): Promise<void> => {
    const script = await loadBrowserScript(name);
    context.set('Cache-Control', 'public, max-age=3600');
    context.set('Access-Control-Allow-Origin', '*');
    context.set('Cross-Origin-Resource-Policy', 'cross-origin');
    context.set('ETag', `"${script.version}"`);
    if (matchesTag(context.get('if-none-match'), context.response.get('etag'))) context.status = 304;
    else sendCompressed(context, script);
  };

const sendDocs = async (context: Context): Promise<void> => {
  const image = await findDocsImage(context.path);
  if (image !== undefined) {
    context.set('Cache-Control', 'public, max-age=3600');
    return sendBody(context, image.contentType, image.content);
  }
  const { search } = context.query;
  const { page, status } = await loadDocsPage(context.path, typeof search === 'string' ? search : '');
  sendPage(context, page, status);
};

/** Responds to a path outside the API: with a page or one of its files for GET, with an HTML 404 for other methods. */
export const sendDashboard = async (
  context: Context,
  { isGet, restrictions }: { readonly isGet: boolean; readonly restrictions: readonly Restriction[] },
): Promise<void> => {
  if (!isGet) return sendPage(context, notFoundPage, 404);
  const file = parseFileName(context.path);
  if (file !== undefined) return sendFile(context, file);
  if (isDocsPath(context.path)) return sendDocs(context);
  sendPage(context, findSmallPage(context.path) ?? (await renderBuiltPage(restrictions)));
};

/** Returns an error message with the path of the field, if the message is that of the first detail. */
const prependPath = (message: string, details: ApiError['details']): string => {
  const [first] = details ?? [];
  return first === undefined || first.path === '' || first.message !== message ? message : `${first.path}: ${message}`;
};

export const toErrorBody = ({ code, message, details }: ApiError, requestId: string): string =>
  JSON.stringify({ error: code, message: prependPath(message, details), requestId, ...(details && { details }) });

/**
 * Logs an unexpected error with the request id and its origin, and temporarily unavailable services with their message.
 */
export const logFailure = (
  error: ApiError,
  { requestId, operation }: { readonly requestId: string; readonly operation: unknown },
  { log }: Ports,
): void => {
  if (error.status < 500 || error.code === 'NOT_IMPLEMENTED') return;
  const { cause } = error;
  const fields = { requestId, operation, error: error.code };
  if (error.code === 'UNAVAILABLE')
    log.warn(
      { ...fields, cause: cause instanceof Error ? cause.message : cause },
      'a request failed, because a service is temporarily unavailable',
    );
  else
    log.error(
      { ...fields, cause: cause instanceof Error ? (cause.stack ?? cause.message) : cause },
      'a request failed',
    );
};

/** Sends an error. Unexpected errors are logged with the request id. */
export const sendError = (context: Context, error: ApiError, requestId: string, ports: Ports): void => {
  logFailure(error, { requestId, operation: context.state['operation'] }, ports);
  for (const [name, value] of Object.entries(error.headers)) context.set(name, value);
  const [type, body] = formatError(error, requestId);
  sendBody(context, type, body, error.status);
};

const formatError = (error: ApiError, requestId: string): readonly [type: string, body: string] => {
  if (!(error instanceof ForeignApiError)) return [jsonType, toErrorBody(error, requestId)];
  const { body, cause } = error.failure;
  if (typeof body === 'string') return ['text/plain; charset=utf-8', body];
  const errorObject = cause === undefined ? {} : JSON.parse(toErrorBody(cause, requestId));
  return [jsonType, JSON.stringify({ ...errorObject, ...(body as object) })];
};

const rejectPlainRequest = ({ path }: Context): never => {
  throw new ApiError(
    'VALIDATION_FAILED',
    `${path} is a WebSocket: connect with a WebSocket client (/api/asyncapi.json)`,
  );
};

/** Creates a value on first use and caches it, so that the start does not wait for rarely used values. */
const memoize = <Value>(create: () => Promise<Value>): (() => Promise<Value>) => {
  let value: Promise<Value> | undefined;
  return () => {
    value ??= create();
    return value;
  };
};

/** Responses that are the same for every caller, by path */
export const createFixedPages = ({
  operations,
  groups,
  streams,
}: {
  readonly operations: readonly Operation[];
  readonly groups: readonly DocumentedGroup[];
  readonly streams: readonly Stream[];
}): Readonly<Record<string, (context: Context) => void | Promise<void>>> => {
  const sendDocument = (create: () => Promise<unknown>): ((context: Context) => Promise<void>) => {
    const getDocument = memoize(async () => JSON.stringify(await create()));
    const getCompressed = memoize(async () => compressText(await getDocument()));
    return async (context) => {
      context.state['gzipped'] = getCompressed;
      sendBody(context, jsonType, await getDocument());
    };
  };
  return {
    ...Object.fromEntries(streams.map(({ path }) => [path, rejectPlainRequest])),
    '/api/openapi.json': sendDocument(() => createOpenApiDocument(operations, groups)),
    '/api/asyncapi.json': sendDocument(async () => createAsyncApiDocument(streams, operations)),
    '/rum/oiq.js': createScriptHandler('oiq.js'),
    '/rum/replay.js': createScriptHandler('replay.js'),
    '/rum/player.js': createScriptHandler('player.js'),
    '/rum/player': (context) => sendPage(context, playerPage),
    '/api/docs': (context) => sendPage(context, referencePage),
  };
};
