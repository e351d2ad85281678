/** Grafana Faro's payloads. Its SDK reads no response body, and obeys `Retry-After`. */
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
  // A beacon sends text, and no preflight.
  shape: (signal, headers) => shapeBody(signal, faroFormat, headers),
  // Rejected items are a dead letter, and must not be sent again.
  toSuccessResponse: () => ({ status: 202, headers: { 'content-length': 0 }, body: undefined }),
  toErrorResponse: (_headers, errorResponse) => toTextResponse(errorResponse),
});
