/** OTLP of browsers. */
import { createOtlpProtocol } from '../otlp-http.ts';
import { browserJson, browserProtobuf } from './body-formats.ts';
import { defineBrowserReceiver } from './browser-receiver.ts';

const maxBodyBytes = 1024 * 1024;

export const browser = defineBrowserReceiver({
  ...createOtlpProtocol({
    receiver: 'browser',
    maxBodyBytes,
    protobuf: browserProtobuf,
    json: browserJson,
    // A beacon sends text, and no preflight.
    defaultFormat: browserJson,
  }),
  name: 'browser',
  summary: 'OTLP of browsers over HTTP, below /rum/{key} on 4318 and on the main address',
  signals: ['logs', 'traces'],
  endpoints: { logs: 'v1/logs', traces: 'v1/traces' },
  maxBodyBytes,
  formats: [browserProtobuf, browserJson],
});
