/** The interface of an HTTP/2 server that gRPC needs. Our own (`../http2`) and Node's implement it; `test/contract/http2-*.test.ts` run over both. */
import type { Server } from 'node:net';

/** Names are in lower case; values of a repeated name are joined by a comma. */
export type Headers = Readonly<Record<string, string>>;

/** One request and its answer. After its end every call of a method is ignored. */
export interface ServerStream {
  readonly headers: Headers;
  /** The peer's address. */
  readonly peer: string | undefined;
  readonly isClosed: boolean;
  /** Whether the answer has begun. */
  readonly hasResponded: boolean;
  /** Begins the answer. With `end` it is all of it. Frozen headers are cheaper where they are sent again. */
  respond(headers: Headers, end?: boolean): void;
  /** Bytes of the answer. They are not copied while they wait for the peer to read. */
  write(bytes: Buffer): void;
  /** Ends the answer with trailers. Later parts of the peer's request are dropped. */
  end(trailers: Headers): void;
}

/** The handler of a request. */
export interface StreamHandler {
  /** Part of the body. The bytes are the handler's. */
  data(chunk: Buffer): void;
  /** The body is whole. */
  end(): void;
  /** Once, when nothing more comes or goes, however it ended. */
  closed(): void;
}

export interface GrpcServer {
  /** To listen with. */
  readonly server: Server;
  /** Takes no connection and no request any more; resolves when the requests in hand are answered and the connections gone. */
  close(): Promise<void>;
  /** Cuts all connections. */
  destroy(): void;
}

/** `accept` is called with every request as soon as its headers are there, and may answer at once. */
export type CreateGrpcServer = (accept: (stream: ServerStream) => StreamHandler) => GrpcServer;
