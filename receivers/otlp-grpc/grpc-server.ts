/**
 * Interface of an HTTP/2 server for gRPC. This project's own server (`../http2`) and Node's implement it;
 * `test/contract/http2-*.test.ts` runs against both.
 */
import type { Server } from 'node:net';

/** Names are in lower case; values of a repeated name are joined by a comma. */
export type Headers = Readonly<Record<string, string>>;

/** One request and its response. After its end every method call is ignored. */
export interface ServerStream {
  readonly headers: Headers;
  /** Address of the peer. */
  readonly peer: string | undefined;
  readonly isClosed: boolean;
  /** Whether the response has begun. */
  readonly hasResponded: boolean;
  /** Starts the response; with `end` it is complete. Frozen headers are cheaper to send repeatedly. */
  respond(headers: Headers, end?: boolean): void;
  /** Writes bytes of the response. They are not copied while they wait for the peer to read. */
  write(bytes: Buffer): void;
  /** Ends the response with trailers. Later parts of the peer's request are dropped. */
  end(trailers: Headers): void;
}

/** Handler of a request. */
export interface StreamHandler {
  /** Receives a part of the body. The handler owns the bytes. */
  data(chunk: Buffer): void;
  /** Called when the body is complete. */
  end(): void;
  /** Called once, when no more data is received or sent, for any reason. */
  closed(): void;
}

export interface GrpcServer {
  /** Server to listen with. */
  readonly server: Server;
  /**
   * Rejects new connections and requests; resolves when pending requests have their responses and all connections are closed.
   */
  close(): Promise<void>;
  /** Destroys all connections. */
  destroy(): void;
}

/**
 * Creates a server. `accept` is called with every request once its headers have arrived, and may respond immediately.
 */
export type CreateGrpcServer = (accept: (stream: ServerStream) => StreamHandler) => GrpcServer;
