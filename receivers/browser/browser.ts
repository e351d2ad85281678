/** OTLP from browsers. */
import { createOtlpProtocol } from '../otlp-http.ts';
import { browserJson, browserProtobuf, maxRecordingBytes } from './body-formats.ts';
import { defineBrowserReceiver } from './browser-receiver.ts';

export const browser = defineBrowserReceiver({
  ...createOtlpProtocol({
    receiver: 'browser',
    maxBodyBytes: maxRecordingBytes,
    protobuf: browserProtobuf,
    json: browserJson,
    // Beacons have the content type `text/plain`, which needs no preflight.
    defaultFormat: browserJson,
  }),
  name: 'browser',
  summary: 'OTLP of browsers over HTTP, below /rum/{key} on 4318 and on the main address',
  signals: ['logs', 'traces'],
  endpoints: { logs: 'v1/logs', traces: 'v1/traces' },
  maxBodyBytes: maxRecordingBytes,
  formats: [browserProtobuf, browserJson],
});
