/** Grafana Faro's payloads. Its SDK reads no response body, and obeys `Retry-After`. */
import { toTextResponse } from '../engine/http-ingest.ts';
import { createRefusal } from '../engine/refusal.ts';
import { parseEncoding } from '../engine/refuse.ts';
import { defineBrowserReceiver } from './browser-receiver.ts';
import { faroFormat } from './faro-format.ts';

export const faro = defineBrowserReceiver({
  name: 'faro',
  summary: "Payloads of Grafana Faro's SDK, /rum/{key}/faro on 4318 and on the main address",
  signals: ['logs'],
  endpoints: { logs: 'faro' },
  maxBodyBytes: 1024 * 1024,
  formats: [faroFormat],
  // A beacon sends text, and no preflight.
  shape(signal, headers) {
    const encoding = parseEncoding(headers['content-encoding'] ?? '');
    if (encoding === undefined || encoding === 'snappy')
      return createRefusal('unsupported-encoding', 'Content-Encoding must be gzip, deflate, zstd or identity');
    return { signal, format: faroFormat, encoding };
  },
  // Rejected items are a dead letter, and must not be sent again.
  accepted: () => ({ status: 202, headers: { 'content-length': 0 }, body: undefined }),
  refused: (_headers, refused) => toTextResponse(refused),
});
