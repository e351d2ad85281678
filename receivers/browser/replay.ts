/** Recordings of sessions. Bodies that are refused are stored nowhere, because they contain what people typed. */

import { toTextResponse } from '../engine/http-ingest.ts';
import { createRefusal } from '../engine/refusal.ts';
import { parseEncoding } from '../engine/refuse.ts';
import { defineBrowserReceiver } from './browser-receiver.ts';
import { replayFormat } from './replay-format.ts';

export const replay = defineBrowserReceiver({
  name: 'replay',
  summary: 'Recordings of sessions by rrweb, /rum/{key}/replay on 4318 and on the main address',
  signals: ['logs'],
  endpoints: { logs: 'replay' },
  maxBodyBytes: 5 * 1024 * 1024,
  formats: [replayFormat],
  shape(signal, headers) {
    const encoding = parseEncoding(headers['content-encoding'] ?? '');
    if (encoding === undefined || encoding === 'snappy')
      return createRefusal('unsupported-encoding', 'Content-Encoding must be gzip, deflate, zstd or identity');
    return { signal, format: replayFormat, encoding };
  },
  accepted: () => ({ status: 202, headers: { 'content-length': 0 }, body: undefined }),
  refused: (_headers, refused) => toTextResponse(refused),
});
