/** A WebSocket as streams see it. */
import type { Caller } from './callers/caller.ts';

/** One open connection, as a stream sees it. The stream sends; a message from the client ends the connection. */
export interface Connection {
  /** Bytes that were sent and that the network has not taken yet. */
  readonly waitingBytes: number;
  send(text: string): void;
}

/** A stream whose client was admitted. */
export interface Opened {
  /** The connection is open. */
  begin(connection: Connection): void;
  /** The caller as they are now; told every second at least. */
  known(caller: Caller): void;
  /** The connection is over, or never came about. */
  end(): void;
}
