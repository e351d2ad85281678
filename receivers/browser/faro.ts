/** Receiver for payloads of Grafana Faro. Its SDK ignores response bodies, and follows `Retry-After`. */
import { shapeBody, toTextResponse } from '../engine/http-ingest.ts';
import { maxRecordingBytes } from './body-formats.ts';
import { defineBrowserReceiver } from './browser-receiver.ts';
import { faroFormat } from './faro-format.ts';

export const faro = defineBrowserReceiver({
  name: 'faro',
  summary: "Payloads of Grafana Faro's SDK, /rum/{key}/faro on 4318 and on the main address",
  signals: ['logs'],
  endpoints: { logs: 'faro' },
  maxBodyBytes: maxRecordingBytes,
  formats: [faroFormat],
  // Beacons have the content type `text/plain`, which needs no preflight.
  shape: (signal, headers) => shapeBody(signal, faroFormat, headers),
  // Rejected items are stored as a dead letter. The SDK must not send them again.
  toSuccessResponse: () => ({ status: 202, headers: { 'content-length': 0 }, body: undefined }),
  toErrorResponse: (_headers, errorResponse) => toTextResponse(errorResponse),
});
