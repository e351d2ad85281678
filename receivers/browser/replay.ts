/** Recordings of sessions. Rejected bodies are not stored, because they contain user input. */

import { shapeBody, toTextResponse } from '../engine/http-ingest.ts';
import { maxRecordingBytes } from './body-formats.ts';
import { defineBrowserReceiver } from './browser-receiver.ts';
import { replayFormat } from './replay-format.ts';

export const replay = defineBrowserReceiver({
  name: 'replay',
  summary: 'Recordings of sessions by rrweb, /rum/{key}/replay on 4318 and on the main address',
  signals: ['logs'],
  endpoints: { logs: 'replay' },
  maxBodyBytes: maxRecordingBytes,
  formats: [replayFormat],
  shape: (signal, headers) => shapeBody(signal, replayFormat, headers),
  toSuccessResponse: () => ({ status: 202, headers: { 'content-length': 0 }, body: undefined }),
  toErrorResponse: (_headers, errorResponse) => toTextResponse(errorResponse),
});
