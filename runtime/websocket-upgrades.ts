/** Requests that open a WebSocket. */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

export const isWebSocketUpgrade = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Rejects an upgrade request, and ends its connection. The response is written to the socket, because an upgrade request
 * has no response object. Names and values of `headers` must have no line breaks.
 */
export const rejectUpgrade = (
  socket: Duplex,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>>,
): void => {
  const lines = Object.entries({
    ...headers,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
};
