/** OpAMP: agents report their status over WebSockets or HTTP. Nothing is offered to them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { type WebSocket, WebSocketServer } from 'ws';
import { trackWork } from '../../runtime/current-work.ts';
import { isWebSocketUpgrade, rejectUpgrade } from '../../runtime/websocket-upgrades.ts';
import { decompress, TooLargeError } from '../../schemas/compression.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { readSourceAddress } from '../../schemas/source-address.ts';
import { getTextBefore } from '../../schemas/text.ts';
import { topics } from '../../schemas/topics.ts';
import { type Credentials, isRejection } from '../engine/admission.ts';
import { parseEncoding } from '../engine/dead-letters.ts';
import { createErrorResponse, type ErrorResponse, errorKinds, toErrorResponse } from '../engine/error-responses.ts';
import { ItemLog } from '../engine/item-log.ts';
import type { Caller } from '../engine/keyring.ts';
import type {
  AddressSetting,
  ExtraEndpointServices,
  ExtraEndpoints,
  HttpHandler,
  OpenExtraEndpoints,
  WebSocketHandler,
} from '../engine/receiver.ts';
import { RequestBody } from '../engine/request-body.ts';
import { AgentRegistry } from './agent-registry.ts';
import { AgentSocket } from './agent-socket.ts';
import { readAgentMessage } from './read-message.ts';
import { type ServerMessage, writeServerMessage } from './write-message.ts';

const paths: Readonly<Partial<Record<AddressSetting, string>>> = {
  OTLP_HTTP_ADDRESS: '/v1/opamp',
  HTTP_ADDRESS: '/otlp/v1/opamp',
};
const mediaType = 'application/x-protobuf';
/** The specification recommends at least 30 seconds. Agents that were rejected together return at different times. */
const minRetrySeconds = 30;
const closeTimeoutMs = 1_000;

const shuttingDown = createErrorResponse('unavailable', 'the receiver is shutting down', 1);
const notPost = createErrorResponse(
  'bad-method',
  'send AgentToServer messages with POST, or open a WebSocket with GET',
);
const wrongType = createErrorResponse('unsupported-type', `Content-Type must be ${mediaType}`);
const wrongEncoding = createErrorResponse(
  'unsupported-encoding',
  'Content-Encoding must be gzip, deflate, zstd or identity',
);

const computeRetrySeconds = ({ retryAfterSeconds = 0 }: ErrorResponse): number =>
  Math.max(minRetrySeconds, retryAfterSeconds) + Math.floor(Math.random() * minRetrySeconds);

const isRetriable = ({ kind }: ErrorResponse): boolean => kind === 'unavailable' || kind === 'rate-limited';

/** Returns a rejection as a message for the agent. */
const toErrorMessage = (
  errorResponse: ErrorResponse,
  retryAfterSeconds: number,
  instanceUid: Uint8Array,
): ServerMessage => ({
  instanceUid,
  error: isRetriable(errorResponse)
    ? { type: 'unavailable', message: errorResponse.message, retryAfterSeconds }
    : { type: 'badRequest', message: errorResponse.message },
});

const noUid = new Uint8Array();

const getPath = ({ url = '' }: IncomingMessage): string => getTextBefore(url, '?');
const acceptsGzip = ({ headers }: IncomingMessage): boolean =>
  String(headers['accept-encoding'] ?? '')
    .split(',')
    .some((item) => {
      const [name = '', weight = 'q=1'] = item.split(';').map((part) => part.trim().toLowerCase());
      return name === 'gzip' && Number(weight.slice('q='.length)) > 0;
    });

/** Returns the body. Rejects if the connection ends early. */
const readBody = (
  request: IncomingMessage,
  maxBytes: number,
  inFlight: ExtraEndpointServices['inFlight'],
): Promise<Buffer | ErrorResponse> =>
  new Promise((resolve, reject) => {
    const tooLarge = createErrorResponse('too-large', `the message is larger than ${maxBytes} bytes`);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return resolve(tooLarge);
    const body = new RequestBody();
    let isDone = false;
    const finish = (settle: () => void): void => {
      if (isDone) return;
      isDone = true;
      inFlight.release(body.size);
      settle();
    };
    request.on('data', (chunk: Buffer) => {
      if (isDone) return;
      if (body.size + chunk.length > maxBytes) return finish(() => resolve(tooLarge));
      const rejection = inFlight.reserveBytes(chunk.length);
      if (rejection !== undefined) return finish(() => resolve(rejection));
      body.add(chunk);
    });
    request.on('end', () => finish(() => resolve(Buffer.concat(body.parts()))));
    request.on('error', (error) => finish(() => reject(error)));
    request.on('close', () =>
      finish(() => reject(new Error('the connection was closed before the body was complete'))),
    );
  });

const decode = (request: IncomingMessage, body: Buffer, maxBytes: number): Buffer | ErrorResponse => {
  const encoding = parseEncoding(request.headers['content-encoding'] ?? '');
  if (encoding === undefined || encoding === 'snappy') return wrongEncoding;
  try {
    return decompress(encoding, body, maxBytes);
  } catch (error) {
    return error instanceof TooLargeError ? createErrorResponse('too-large', error.message) : toErrorResponse(error);
  }
};

interface HttpResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: ServerMessage;
}

const toRejectionHeaders = (errorResponse: ErrorResponse, retrySeconds: number): Readonly<Record<string, string>> => {
  if (isRetriable(errorResponse)) return { 'retry-after': String(retrySeconds) };
  if (errorResponse.kind === 'unauthenticated') return { 'www-authenticate': 'Bearer' };
  return errorResponse.kind === 'bad-method' ? { allow: 'GET, POST' } : {};
};

/** Returns the response to a request. Errors of the message are also in the status. */
const toHttpResult = (outcome: ServerMessage | ErrorResponse): HttpResult => {
  if (isRejection(outcome)) {
    const retrySeconds = computeRetrySeconds(outcome);
    return {
      status: errorKinds[outcome.kind].http,
      headers: toRejectionHeaders(outcome, retrySeconds),
      message: toErrorMessage(outcome, retrySeconds, noUid),
    };
  }
  return { status: outcome.error === undefined ? 200 : 400, headers: {}, message: outcome };
};

const writeRejection = (socket: Duplex, errorResponse: ErrorResponse): void =>
  rejectUpgrade(socket, errorKinds[errorResponse.kind].http, `${errorResponse.message}\n`, {
    'content-type': 'text/plain; charset=utf-8',
    ...toRejectionHeaders(errorResponse, computeRetrySeconds(errorResponse)),
  });

class Opamp implements ExtraEndpoints {
  readonly #services: ExtraEndpointServices;
  readonly #registry: AgentRegistry;
  readonly #reports: ItemLog<typeof topics.fleetAgents.item>;
  readonly #maxBytes: number;
  readonly #server: WebSocketServer;
  readonly #sockets = new Set<AgentSocket>();
  readonly #intervalMs: number;
  readonly #socketTimer: NodeJS.Timeout;
  readonly handlers: Readonly<Partial<Record<AddressSetting, HttpHandler>>>;
  readonly sockets: Readonly<Partial<Record<AddressSetting, WebSocketHandler>>>;
  #isClosed = false;

  constructor(services: ExtraEndpointServices) {
    const { settings, metrics, producer, clock, keyring, counters } = services;
    this.#services = services;
    this.#maxBytes = settings.OPAMP_MAX_MESSAGE_BYTES;
    this.#intervalMs = settings.OPAMP_HEARTBEAT_SECONDS * 1000;
    this.#reports = new ItemLog(producer, topics.fleetAgents, 'reports of agents');
    this.#registry = new AgentRegistry({
      clock,
      intervalMs: this.#intervalMs,
      counters,
      publish: (report) => this.#reports.add(report),
      isEnabled: (tenantId) => keyring.isEnabled(tenantId),
      onCount: ({ connected, polling }) => {
        metrics.set('oiq_opamp_agents', connected, { transport: 'websocket' });
        metrics.set('oiq_opamp_agents', polling, { transport: 'http' });
      },
    });
    // Compression would cost each connection its own memory, and messages are small.
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: this.#maxBytes,
      clientTracking: false,
      perMessageDeflate: false,
    });
    this.#server.on('wsClientError', (error, socket) =>
      writeRejection(socket, createErrorResponse('malformed', error.message)),
    );
    this.#socketTimer = setInterval(() => this.#checkSockets(), Math.min(5_000, this.#intervalMs / 2)).unref();
    const createHandler = (path: string) => (request: IncomingMessage, response: ServerResponse) => {
      if (getPath(request) !== path) return false;
      services.inFlight.enter();
      void this.#serveRequest(request, response).finally(() => services.inFlight.leave());
      return true;
    };
    const createSockets = (path: string) => ({
      accepts: (request: IncomingMessage) => isWebSocketUpgrade(request) && getPath(request) === path,
      upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => this.#upgrade(request, socket, head),
    });
    const entries = Object.entries(paths);
    this.handlers = Object.fromEntries(entries.map(([setting, path]) => [setting, createHandler(path)]));
    this.sockets = Object.fromEntries(entries.map(([setting, path]) => [setting, createSockets(path)]));
  }

  /** Clients connect again, to another instance or after the restart. */
  async endConnections(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#socketTimer);
    for (const socket of this.#sockets) socket.close(1001, 'the instance is stopping');
    const deadlineMs = performance.now() + closeTimeoutMs;
    while (this.#sockets.size > 0 && performance.now() < deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, 20));
    for (const socket of this.#sockets) socket.terminate();
  }

  async close(): Promise<void> {
    await this.endConnections();
    await this.#registry.close();
    await this.#reports.drain();
  }

  #readCredentials(request: IncomingMessage): Credentials {
    const { 'x-license-key': licenseKey, authorization } = request.headers;
    const source = readSourceAddress(request, this.#services.resolveSource);
    return { licenseKey: typeof licenseKey === 'object' ? licenseKey[0] : licenseKey, authorization, source };
  }

  #count(transport: 'websocket' | 'http', { error }: ServerMessage): void {
    const outcome = error === undefined ? 'accepted' : error.type === 'unavailable' ? 'unavailable' : 'malformed';
    this.#services.metrics.add('oiq_opamp_messages_total', 1, { transport, outcome });
  }

  async #admit(credentials: Credentials): Promise<Caller | ErrorResponse> {
    if (this.#isClosed || this.#services.inFlight.isDraining) return shuttingDown;
    try {
      return await this.#services.admit(credentials);
    } catch (error) {
      return toErrorResponse(error);
    }
  }

  /** Returns the response to a message, or the rejection. */
  async #processMessage(
    bytes: Buffer,
    start: number,
    caller: Caller,
    connection?: AgentSocket,
  ): Promise<ServerMessage | ErrorResponse> {
    try {
      const message = readAgentMessage(bytes, start);
      const response = await this.#registry.process(message, caller, connection);
      if (response.error === undefined && response.newInstanceUid === undefined)
        connection?.addAgent(this.#registry.getKey(caller, message.instanceUid), message.isDisconnect);
      return response;
    } catch (error) {
      if (!(error instanceof PermanentError)) this.#services.log.warn({ error }, 'an OpAMP message was not stored');
      return toErrorResponse(error);
    }
  }

  async #serveRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Bytes after a response are read and dropped, so that the sender can finish and read it.
    request.on('error', () => undefined);
    const outcome = await this.#handleRequest(request, response).catch((error: unknown) => toErrorResponse(error));
    const result = toHttpResult(outcome);
    this.#count('http', result.message);
    if (response.destroyed || response.headersSent) return;
    if (this.#services.inFlight.isDraining) response.shouldKeepAlive = false;
    request.resume();
    const body = writeServerMessage(result.message, { hasHeader: false });
    const isCompressed = acceptsGzip(request);
    const sentBody = isCompressed ? gzipSync(body) : body;
    response.writeHead(result.status, {
      ...result.headers,
      'content-type': mediaType,
      'content-length': sentBody.length,
      ...(isCompressed && { 'content-encoding': 'gzip' }),
    });
    response.end(sentBody);
  }

  async #handleRequest(request: IncomingMessage, response: ServerResponse): Promise<ServerMessage | ErrorResponse> {
    if (request.method !== 'POST') return notPost;
    const caller = await this.#admit(this.#readCredentials(request));
    if (isRejection(caller)) return caller;
    if (
      getTextBefore(request.headers['content-type'] ?? '', ';')
        .trim()
        .toLowerCase() !== mediaType
    )
      return wrongType;
    if (request.headers.expect !== undefined) response.writeContinue();
    const body = await readBody(request, this.#maxBytes, this.#services.inFlight);
    if (!Buffer.isBuffer(body)) return body;
    const decoded = decode(request, body, this.#maxBytes);
    if (!Buffer.isBuffer(decoded)) return decoded;
    return trackWork('receiver opamp', () => this.#processMessage(decoded, 0, caller));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A disconnecting client is normal operation.
    socket.on('error', () => undefined);
    const credentials = this.#readCredentials(request);
    void this.#admit(credentials).then((caller) => {
      if (isRejection(caller)) return writeRejection(socket, caller);
      this.#server.handleUpgrade(request, socket, head, (webSocket) => this.#openSocket(webSocket, credentials));
    });
  }

  #openSocket(webSocket: WebSocket, credentials: Credentials): void {
    const agentSocket = new AgentSocket(webSocket, {
      credentials,
      intervalMs: this.#intervalMs,
      onMessage: (bytes, start) => this.#respondOnSocket(agentSocket, bytes, start),
      onMalformed: (message) =>
        this.#send(agentSocket, toErrorMessage(createErrorResponse('malformed', message), 0, noUid)),
      onAlive: (keys) => this.#registry.touch(keys),
      onClose: (keys) => {
        this.#sockets.delete(agentSocket);
        this.#registry.closeConnection(agentSocket, keys);
      },
    });
    this.#sockets.add(agentSocket);
    if (this.#isClosed) agentSocket.close(1001, 'the instance is stopping');
  }

  #send(socket: AgentSocket, message: ServerMessage): void {
    this.#count('websocket', message);
    socket.send(writeServerMessage(message, { hasHeader: true }));
  }

  async #respondOnSocket(socket: AgentSocket, bytes: Buffer, start: number): Promise<void> {
    const caller = await this.#admit(socket.credentials);
    if (isRejection(caller) && (caller.kind === 'unauthenticated' || caller.kind === 'forbidden'))
      return socket.close(1008, caller.message);
    const outcome = isRejection(caller)
      ? caller
      : await trackWork('receiver opamp', () => this.#processMessage(bytes, start, caller, socket));
    this.#send(socket, isRejection(outcome) ? toErrorMessage(outcome, computeRetrySeconds(outcome), noUid) : outcome);
  }

  /** Closes connections whose keys are no longer valid, and pings those that were not seen for an interval. */
  #checkSockets(): void {
    const { findRevocation } = this.#services;
    for (const socket of this.#sockets) {
      const errorResponse = findRevocation(socket.credentials);
      if (errorResponse !== undefined) socket.close(1008, errorResponse.message);
      else socket.check();
    }
  }
}

/** Opens `/v1/opamp` on the OTLP address, and `/otlp/v1/opamp` on the main address. */
export const openOpamp: OpenExtraEndpoints = async (services) => new Opamp(services);
