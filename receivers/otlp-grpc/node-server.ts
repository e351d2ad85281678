/** `node:http2` as the gRPC server: more CPU per call than the project's own server, but only Node's parser. */
import { once } from 'node:events';
import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { CreateGrpcServer, Headers, ServerStream, StreamHandler } from './grpc-server.ts';

/** Equal to `../http2/options.ts`. */
const settings = { maxConcurrentStreams: 256, initialWindowSize: 4 * 1024 * 1024, maxHeaderListSize: 16 * 1024 };
const connectionWindowBytes = 16 * 1024 * 1024;
const handshakeMs = 10_000;
const keepAliveMs = 60_000;
const ignore = (): void => undefined;

class NodeStream implements ServerStream {
  readonly #stream: ServerHttp2Stream;
  readonly headers: Headers;
  readonly peer: string | undefined;
  hasResponded = false;
  #isEnding = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.#stream = stream;
    // Only `set-cookie`, which no request has, is a list.
    this.headers = headers as Headers;
    this.peer = stream.session?.socket.remoteAddress;
  }

  get isClosed(): boolean {
    return this.#isEnding || this.#stream.closed || this.#stream.destroyed;
  }

  respond(headers: Headers, end = false): void {
    if (this.isClosed || this.hasResponded) return;
    this.hasResponded = true;
    this.#stream.respond(headers, end ? { endStream: true } : { waitForTrailers: true });
    if (!end) return;
    this.#isEnding = true;
    this.#closeRequest();
  }

  write(bytes: Buffer): void {
    if (!this.isClosed) this.#stream.write(bytes);
  }

  end(trailers: Headers): void {
    if (this.isClosed) return;
    this.#isEnding = true;
    this.#stream.once('wantTrailers', () => {
      this.#stream.sendTrailers(trailers);
      this.#closeRequest();
    });
    this.#stream.end();
  }

  #closeRequest(): void {
    if (!this.#stream.readableEnded) setImmediate(() => this.#stream.close(constants.NGHTTP2_NO_ERROR));
  }
}

const attachHandler = (stream: ServerHttp2Stream, handler: StreamHandler): void => {
  stream.on('data', (chunk: Buffer) => handler.data(chunk));
  stream.on('end', () => {
    if (!stream.aborted) handler.end();
  });
  stream.once('close', () => handler.closed());
  // The `close` event reports a broken stream.
  stream.on('error', ignore);
};

export const createNodeServer: CreateGrpcServer = (accept) => {
  const sessions = new Set<ServerHttp2Session>();
  const streams = new Set<ServerHttp2Stream>();
  const server = createServer({ settings });
  server.on('connection', (socket: Socket) => socket.setNoDelay(true).setKeepAlive(true, keepAliveMs));
  server.on('session', (session) => {
    session.setLocalWindowSize(connectionWindowBytes);
    const timer = setTimeout(() => session.destroy(), handshakeMs).unref();
    session.once('remoteSettings', () => clearTimeout(timer));
    session.on('error', ignore);
    session.once('close', () => {
      clearTimeout(timer);
      sessions.delete(session);
    });
    sessions.add(session);
  });
  server.on('stream', (stream, headers) => {
    streams.add(stream);
    stream.once('close', () => streams.delete(stream));
    attachHandler(stream, accept(new NodeStream(stream, headers)));
  });
  return {
    server,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      await closed;
      // The server forgets a connection before its streams receive `close`.
      await Promise.all([...streams].map((stream) => once(stream, 'close')));
    },
    destroy() {
      server.close();
      for (const session of sessions) session.destroy();
    },
  };
};
