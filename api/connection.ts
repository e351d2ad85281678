/** A WebSocket in the form that streams use. */
import type { Caller } from './callers/caller.ts';

/** One open connection of a stream. The stream sends; a message from the client ends the connection. */
export interface Connection {
  /** Sent bytes that the network has not accepted yet */
  readonly bufferedBytes: number;
  send(text: string): void;
}

/** A stream with an admitted client. */
export interface AdmittedStream {
  /** Called when the connection is open. */
  begin(connection: Connection): void;
  /** Called at least every second with the current state of the caller. */
  updateCaller(caller: Caller): void;
  /** Called when the connection is closed, or could not be opened. */
  end(): void;
}
