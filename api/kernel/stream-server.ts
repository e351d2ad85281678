/** Admits WebSockets like operations, and closes them when their permissions end. Only this module uses `ws`. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { trackWork } from '../../runtime/current-work.ts';
import { runEvery } from '../../runtime/interval.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { type Metrics, noMetrics } from '../../schemas/ports/metrics.ts';
import { type SourceOf, sourceAddresses } from '../../schemas/source-address.ts';
import type { Caller } from '../callers/caller.ts';
import type { Opened } from '../connection.ts';
import { ApiError, apiErrorOf, rateLimited } from '../errors.ts';
import { callerOf, refuseLowRights } from './admission.ts';
import { errorText, logFailure } from './answers.ts';
import { type Operation, validated } from './operation.ts';
import type { Ports } from './ports.ts';
import type { RequestLimits } from './request-limits.ts';
import { queryOf, sourceOf } from './request-parts.ts';
import type { CloseCode, Stream } from './stream.ts';
import { refuseOtherTenant } from './tenant-rule.ts';

/** Permissions that end close the connection within this time plus the delay of the change feed. */
const rightsEveryMs = 500;
const pingEveryMs = 15_000;
/** A client that neither answers nor reads for this long counts as disconnected. */
const silentMs = 45_000;
/** Time for clients to answer a close */
const closingMs = 1_000;
/** Clients send no messages. */
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
interface Served {
  readonly stream: Stream;
  readonly reads: ReadonlyMap<string, Operation>;
}

interface Open {
  readonly stream: Stream;
  readonly operation: Operation;
  readonly opened: Opened;
  caller: Caller;
  socket?: WebSocket;
  /** The underlying socket */
  wire?: Socket;
  /** Bytes that the network had accepted at the last check, and when their number last grew. */
  sentBytes: number;
  aliveAt: number;
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

const readsOf = ({ rights }: Stream, operations: readonly Operation[]): Map<string, Operation> =>
  new Map(
    Object.entries(rights.operations).map(([value, read]) => {
      const operation = operations.find(({ method, path }) => `${method} ${path}` === read);
      if (operation === undefined) throw new Error(`there is no operation ${read}`);
      return [value, operation];
    }),
  );

/** Written manually: an upgrade has no response object. */
const refuse = (socket: Duplex, error: ApiError, requestId: string): void => {
  const body = errorText(error, requestId);
  const headers = {
    ...error.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n'));
};

export class Streams implements StreamServer {
  readonly #options: StreamServerOptions;
  readonly #served: ReadonlyMap<string, Served>;
  readonly #addressOf: SourceOf;
  readonly #metrics: Metrics;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload,
    clientTracking: false,
    perMessageDeflate: false,
  });
  readonly #open = new Set<Open>();
  readonly #stopCheckingRights: () => void;
  readonly #pingTimer: NodeJS.Timeout;
  #closed = false;

  constructor(options: StreamServerOptions) {
    const { streams, operations, ports, metrics = noMetrics } = options;
    this.#options = options;
    this.#metrics = metrics;
    this.#served = new Map(streams.map((stream) => [stream.path, { stream, reads: readsOf(stream, operations) }]));
    this.#addressOf = sourceAddresses(ports.settings.TRUSTED_PROXIES);
    // Without a listener, `ws` would answer with its own page.
    this.#sockets.on('wsClientError', (error, socket) =>
      refuse(socket, new ApiError('VALIDATION_FAILED', error.message), randomUUID()),
    );
    this.#stopCheckingRights = runEvery(rightsEveryMs, () => this.#checkRights());
    this.#pingTimer = setInterval(() => this.#ping(), pingEveryMs).unref();
  }

  accepts(request: IncomingMessage): boolean {
    return request.headers.upgrade?.toLowerCase() === 'websocket' && this.#served.has(pathOf(request));
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A disconnecting client is normal operation.
    socket.on('error', () => undefined);
    const requestId = randomUUID();
    const started = performance.now();
    const operation = this.#served.get(pathOf(request))?.stream.operationId ?? 'none';
    const recordRequest = (status: number): void => {
      this.#metrics.add('oiq_api_requests_total', 1, { operation, status: String(status) });
      this.#metrics.observe('oiq_api_duration_seconds', (performance.now() - started) / 1000, { operation });
    };
    trackWork(`operation ${operation}`, () => this.#admit(request, socket, head)).then(
      () => recordRequest(101),
      (thrown: unknown) => {
        const error = apiErrorOf(thrown);
        logFailure(error, { requestId, operation }, this.#options.ports);
        refuse(socket, error, requestId);
        recordRequest(error.status);
      },
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopCheckingRights();
    clearInterval(this.#pingTimer);
    for (const open of this.#open) this.#end(open, 1001, 'the instance is stopping');
    const deadline = performance.now() + closingMs;
    while (this.#open.size > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const { socket } of this.#open) socket?.terminate();
  }

  /** The same steps as for the request of an operation, and the handshake. */
  async #admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { ports, limits } = this.#options;
    const served = this.#served.get(pathOf(request));
    if (this.#closed || served === undefined)
      throw new ApiError('UNAVAILABLE', 'this instance is stopping: connect again');
    if ((request.headersDistinct['host']?.length ?? 0) > 1)
      throw new ApiError('VALIDATION_FAILED', 'the request has more than one Host header: send exactly one');
    const { stream, reads } = served;
    const query = queryOf((request.url ?? '').split('?').slice(1).join('?'));
    const read = reads.get(String(query[stream.rights.parameter])) ?? reads.values().next().value;
    if (read === undefined) throw new Error(`${stream.path} takes nobody's rights`);
    const address = sourceOf(request, this.#addressOf);
    const limited = { operationId: stream.operationId, role: read.role };
    const caller = (await callerOf(request, limited, address, { ports, limits })) as Caller;
    refuseOtherTenant(caller.tenantId, query['tenantId']);
    refuseLowRights(caller, read);
    delete query['tenantId'];
    this.#refuseTooMany(stream, caller);
    const open: Partial<Open> & Pick<Open, 'caller'> = { stream, operation: read, caller, sentBytes: 0, aliveAt: 0 };
    this.#open.add(open as Open);
    try {
      Object.assign(open, { opened: await stream.open({ caller, query: validated(stream.query, query) }, ports) });
    } catch (error) {
      this.#open.delete(open as Open);
      throw error;
    }
    this.#shake(open as Open, request, socket, head);
  }

  #refuseTooMany({ maxConnections }: Stream, { tenantId, actor }: Caller): void {
    let mine = 0;
    let ofTenant = 0;
    for (const { caller } of this.#open) {
      if (caller.tenantId !== tenantId) continue;
      ofTenant++;
      if (caller.actor.id === actor.id && caller.actor.type === actor.type) mine++;
    }
    if (mine >= maxConnections.ofCaller) throw rateLimited(`you have ${mine} open connections: close one first`, 1_000);
    if (ofTenant >= maxConnections.ofTenant)
      throw rateLimited(`${ofTenant} connections of the organization are open: close one first`, 1_000);
    if (this.#open.size >= maxConnections.ofAll)
      throw new UnavailableError('this instance has reached its maximum number of connections', {
        retryAfterSeconds: 5,
      });
  }

  #shake(open: Open, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const over = (): void => {
      if (this.#open.delete(open)) open.opened.end();
    };
    // Also if the handshake fails, or the client has disconnected.
    socket.once('close', over);
    if (socket.destroyed) over();
    this.#sockets.handleUpgrade(request, socket, head, (made) => {
      open.socket = made;
      open.wire = socket as Socket;
      open.aliveAt = performance.now();
      made.on('error', () => undefined);
      made.on('pong', () => {
        open.aliveAt = performance.now();
      });
      made.on('message', () => this.#end(open, 1003, 'no message is expected'));
      if (this.#closed) return this.#end(open, 1001, 'the instance is stopping');
      open.opened.begin({
        get waitingBytes() {
          return made.bufferedAmount;
        },
        send: (text) => made.send(text),
      });
    });
  }

  #end(open: Open, code: CloseCode, reason: string): void {
    const { socket } = open;
    socket?.close(code, reason.slice(0, maxReasonLength));
    // A client that does not read does not answer either.
    if (socket !== undefined) setTimeout(() => socket.terminate(), closingMs).unref();
  }

  #checkRights(): void {
    const { directory } = this.#options.ports;
    for (const open of this.#open) {
      if (open.socket === undefined) continue;
      try {
        const caller = directory.current(open.caller);
        if (caller === undefined) {
          this.#end(open, 4401, 'the session or API token has expired');
          continue;
        }
        refuseLowRights(caller, open.operation);
        open.caller = caller;
        open.opened.known(caller);
      } catch (error) {
        if (error instanceof UnavailableError) this.#end(open, 1013, error.message);
        else this.#end(open, 4403, apiErrorOf(error).message);
      }
    }
  }

  #ping(): void {
    const now = performance.now();
    for (const open of this.#open) {
      const { socket, wire } = open;
      if (socket === undefined) continue;
      const sentBytes = (wire?.bytesWritten ?? 0) - socket.bufferedAmount;
      if (sentBytes > open.sentBytes) open.aliveAt = now;
      open.sentBytes = sentBytes;
      if (now - open.aliveAt > silentMs) socket.terminate();
      else if (socket.readyState === socket.OPEN) socket.ping();
    }
  }
}
