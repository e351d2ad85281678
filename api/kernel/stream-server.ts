/** Admits WebSockets like operations, and closes them when their permissions end. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { trackWork } from '../../runtime/current-work.ts';
import { runEvery } from '../../runtime/interval.ts';
import { isWebSocketUpgrade, rejectUpgrade } from '../../runtime/websocket-upgrades.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { type Metrics, silentMetrics } from '../../schemas/ports/metrics.ts';
import { createSourceResolver, type ResolveSource, readSourceAddress } from '../../schemas/source-address.ts';
import type { Caller } from '../callers/caller.ts';
import type { AdmittedStream } from '../connection.ts';
import { ApiError, createRateLimitError, toApiError } from '../errors.ts';
import { authenticateWithinLimits, authorizeCaller } from './admission.ts';
import { type Operation, parseOrThrow } from './operation.ts';
import type { Ports } from './ports.ts';
import type { RequestLimits } from './request-limits.ts';
import { parseQueryText } from './request-parts.ts';
import { logFailure, toErrorBody } from './responses.ts';
import type { CloseCode, Stream } from './stream.ts';
import { requireSameTenant } from './tenant-rule.ts';

/** Interval of permission checks: a connection closes within this time, plus the delay of the change feed, after its permission ended. */
const permissionCheckIntervalMs = 500;
const pingIntervalMs = 15_000;
/** A client that neither responds nor reads for this long counts as disconnected. */
const maxSilenceMs = 45_000;
/** Time for clients to respond to a close */
const closeTimeoutMs = 1_000;
/** Maximum size of a message from a client; clients are not expected to send any. */
const maxPayload = 1024;
const maxReasonLength = 120;

export interface StreamServerOptions {
  readonly streams: readonly Stream[];
  readonly operations: readonly Operation[];
  readonly ports: Ports;
  readonly limits: RequestLimits;
  readonly metrics?: Metrics;
}

export interface StreamServer {
  /** Whether a request opens a known WebSocket. */
  accepts(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes all connections, and accepts no others. */
  close(): Promise<void>;
}

/** A stream with the operations that determine its permissions. */
interface ServedStream {
  readonly stream: Stream;
  readonly operationsByParameter: ReadonlyMap<string, Operation>;
}

interface OpenConnection {
  readonly stream: Stream;
  readonly operation: Operation;
  readonly admittedStream: AdmittedStream;
  caller: Caller;
  socket?: WebSocket;
  /** The underlying socket */
  networkSocket?: Socket;
  /** Bytes that the network had accepted at the last check, and when their number last grew. */
  sentBytes: number;
  lastActivityMs: number;
}

const getRequestPath = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

const resolveOperations = ({ rights }: Stream, operations: readonly Operation[]): Map<string, Operation> =>
  new Map(
    Object.entries(rights.operations).map(([value, read]) => {
      const operation = operations.find(({ method, path }) => `${method} ${path}` === read);
      if (operation === undefined) throw new Error(`there is no operation ${read}`);
      return [value, operation];
    }),
  );

const writeError = (socket: Duplex, error: ApiError, requestId: string): void =>
  rejectUpgrade(socket, error.status, toErrorBody(error, requestId), {
    ...error.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  });

export class Streams implements StreamServer {
  readonly #options: StreamServerOptions;
  readonly #streamsByPath: ReadonlyMap<string, ServedStream>;
  readonly #resolveAddress: ResolveSource;
  readonly #metrics: Metrics;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload,
    clientTracking: false,
    perMessageDeflate: false,
  });
  readonly #connections = new Set<OpenConnection>();
  readonly #stopPermissionChecks: () => void;
  readonly #pingTimer: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: StreamServerOptions) {
    const { streams, operations, ports, metrics = silentMetrics } = options;
    this.#options = options;
    this.#metrics = metrics;
    this.#streamsByPath = new Map(
      streams.map((stream) => [stream.path, { stream, operationsByParameter: resolveOperations(stream, operations) }]),
    );
    this.#resolveAddress = createSourceResolver(ports.settings.TRUSTED_PROXIES);
    // Without a listener, `ws` would send its own page.
    this.#sockets.on('wsClientError', (error, socket) =>
      writeError(socket, new ApiError('VALIDATION_FAILED', error.message), randomUUID()),
    );
    this.#stopPermissionChecks = runEvery(permissionCheckIntervalMs, () => this.#checkPermissions());
    this.#pingTimer = setInterval(() => this.#ping(), pingIntervalMs).unref();
  }

  accepts(request: IncomingMessage): boolean {
    return isWebSocketUpgrade(request) && this.#streamsByPath.has(getRequestPath(request));
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A disconnecting client is normal operation.
    socket.on('error', () => undefined);
    const requestId = randomUUID();
    const started = performance.now();
    const operation = this.#streamsByPath.get(getRequestPath(request))?.stream.operationId ?? 'none';
    const recordRequest = (status: number): void => {
      this.#metrics.add('oiq_api_requests_total', 1, { operation, status: String(status) });
      this.#metrics.observe('oiq_api_duration_seconds', (performance.now() - started) / 1000, { operation });
    };
    trackWork(`operation ${operation}`, () => this.#admit(request, socket, head)).then(
      () => recordRequest(101),
      (cause: unknown) => {
        const error = toApiError(cause);
        logFailure(error, { requestId, operation }, this.#options.ports);
        writeError(socket, error, requestId);
        recordRequest(error.status);
      },
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopPermissionChecks();
    clearInterval(this.#pingTimer);
    for (const connection of this.#connections) this.#end(connection, 1001, 'the instance is stopping');
    const deadline = performance.now() + closeTimeoutMs;
    while (this.#connections.size > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    for (const { socket } of this.#connections) socket?.terminate();
  }

  /** Authenticates and authorizes a request like that of an operation, opens the stream, and completes the handshake. */
  async #admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { ports, limits } = this.#options;
    const servedStream = this.#streamsByPath.get(getRequestPath(request));
    if (this.#isClosed || servedStream === undefined)
      throw new ApiError('UNAVAILABLE', 'this instance is stopping: connect again');
    if ((request.headersDistinct['host']?.length ?? 0) > 1)
      throw new ApiError('VALIDATION_FAILED', 'the request has more than one Host header: send exactly one');
    const { stream, operationsByParameter } = servedStream;
    const query = parseQueryText((request.url ?? '').split('?').slice(1).join('?'));
    const read =
      operationsByParameter.get(String(query[stream.rights.parameter])) ?? operationsByParameter.values().next().value;
    if (read === undefined) throw new Error(`${stream.path} declares no operation that determines its permissions`);
    const address = readSourceAddress(request, this.#resolveAddress);
    const rateLimitedOperation = { operationId: stream.operationId, role: read.role };
    const authenticatedCaller = (await authenticateWithinLimits(request, rateLimitedOperation, address, {
      ports,
      limits,
    })) as Caller;
    requireSameTenant(authenticatedCaller.tenantId, query['tenantId']);
    const caller = authorizeCaller(authenticatedCaller, read);
    delete query['tenantId'];
    this.#requireFreeConnection(stream, caller);
    const connection: Partial<OpenConnection> & Pick<OpenConnection, 'caller'> = {
      stream,
      operation: read,
      caller,
      sentBytes: 0,
      lastActivityMs: 0,
    };
    this.#connections.add(connection as OpenConnection);
    try {
      Object.assign(connection, {
        admittedStream: await stream.open({ caller, query: parseOrThrow(stream.query, query) }, ports),
      });
    } catch (error) {
      this.#connections.delete(connection as OpenConnection);
      throw error;
    }
    this.#completeHandshake(connection as OpenConnection, request, socket, head);
  }

  #requireFreeConnection({ maxConnections }: Stream, { tenantId, actor }: Caller): void {
    let callerCount = 0;
    let tenantCount = 0;
    for (const { caller } of this.#connections) {
      if (caller.tenantId !== tenantId) continue;
      tenantCount++;
      if (caller.actor.id === actor.id && caller.actor.type === actor.type) callerCount++;
    }
    if (callerCount >= maxConnections.ofCaller)
      throw createRateLimitError(`you have ${callerCount} open connections: close one first`, 1_000);
    if (tenantCount >= maxConnections.ofTenant)
      throw createRateLimitError(`${tenantCount} connections of the organization are open: close one first`, 1_000);
    if (this.#connections.size >= maxConnections.ofAll)
      throw new UnavailableError('this instance has reached its maximum number of connections', {
        retryAfterSeconds: 5,
      });
  }

  #completeHandshake(open: OpenConnection, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const endStream = (): void => {
      if (this.#connections.delete(open)) open.admittedStream.end();
    };
    // Ends the stream also if the handshake fails, or if the client has already disconnected.
    socket.once('close', endStream);
    if (socket.destroyed) endStream();
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      open.socket = webSocket;
      open.networkSocket = socket as Socket;
      open.lastActivityMs = performance.now();
      webSocket.on('error', () => undefined);
      webSocket.on('pong', () => {
        open.lastActivityMs = performance.now();
      });
      webSocket.on('message', () => this.#end(open, 1003, 'no message is expected'));
      if (this.#isClosed) return this.#end(open, 1001, 'the instance is stopping');
      open.admittedStream.begin({
        get bufferedBytes() {
          return webSocket.bufferedAmount;
        },
        send: (text) => webSocket.send(text),
      });
    });
  }

  #end(open: OpenConnection, code: CloseCode, reason: string): void {
    const { socket } = open;
    socket?.close(code, reason.slice(0, maxReasonLength));
    // A client that does not read does not respond either.
    if (socket !== undefined) setTimeout(() => socket.terminate(), closeTimeoutMs).unref();
  }

  #checkPermissions(): void {
    const { directory } = this.#options.ports;
    for (const open of this.#connections) {
      if (open.socket === undefined) continue;
      try {
        const refreshedCaller = directory.refreshCaller(open.caller);
        if (refreshedCaller === undefined) {
          this.#end(open, 4401, 'the session or API token has expired');
          continue;
        }
        const caller = authorizeCaller(refreshedCaller, open.operation);
        open.caller = caller;
        open.admittedStream.updateCaller(caller);
      } catch (error) {
        if (error instanceof UnavailableError) this.#end(open, 1013, error.message);
        else this.#end(open, 4403, toApiError(error).message);
      }
    }
  }

  #ping(): void {
    const now = performance.now();
    for (const open of this.#connections) {
      const { socket, networkSocket } = open;
      if (socket === undefined) continue;
      const sentBytes = (networkSocket?.bytesWritten ?? 0) - socket.bufferedAmount;
      if (sentBytes > open.sentBytes) open.lastActivityMs = now;
      open.sentBytes = sentBytes;
      if (now - open.lastActivityMs > maxSilenceMs) socket.terminate();
      else if (socket.readyState === socket.OPEN) socket.ping();
    }
  }
}
