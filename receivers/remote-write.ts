/** Prometheus remote-write 1.0 and 2.0. The snappy body goes on the bus as it came. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Format } from '../schemas/telemetry-message.ts';
import { NodeCall } from './engine/http-call.ts';
import { HttpIngest, type HttpProtocol, refusedAnswer } from './engine/http-ingest.ts';
import type { Shape, Written } from './engine/prepare.ts';
import { defineReceiver } from './engine/receiver.ts';
import { refusal } from './engine/refusal.ts';

const path = '/api/v1/prom/write';
const maxBodyBytes = 20 * 1024 * 1024;
const acceptedBody = '{"status":"accepted"}';

const formats = new Map<string, Format>([
  ['prometheus.writerequest', 'remote-write-1'],
  ['io.prometheus.write.v2.request', 'remote-write-2'],
]);

/** The format that a Content-Type names; senders of 1.0 may leave out the parameter, and the oldest the whole header. */
const formatOf = (contentType: string | undefined): Format | undefined => {
  if (contentType === undefined) return 'remote-write-1';
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== 'application/x-protobuf') return undefined;
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim() === 'proto') return formats.get(value.trim().replaceAll('"', ''));
  }
  return 'remote-write-1';
};

/** Remote-write 2.0 wants to be told what was written, also when it was nothing. */
const writtenHeaders = (written: Written): OutgoingHttpHeaders => ({
  'x-prometheus-remote-write-samples-written': String(written.samples),
  'x-prometheus-remote-write-histograms-written': String(written.histograms),
  'x-prometheus-remote-write-exemplars-written': String(written.exemplars),
});

const nothing: Written = { samples: 0, histograms: 0, exemplars: 0 };

const shapeOf = (headers: IncomingHttpHeaders): Shape | undefined => {
  const format = formatOf(headers['content-type']);
  return format && { signal: 'metrics', format, media: 'protobuf', encoding: 'snappy' };
};

const protocol: HttpProtocol = {
  receiver: 'remote-write',
  maxBodyBytes,
  shape(_signal, headers) {
    const shape = shapeOf(headers);
    if (shape === undefined)
      return refusal('unsupported-type', 'Content-Type must be application/x-protobuf with a proto of remote-write');
    if (headers['content-encoding']?.trim().toLowerCase() !== 'snappy')
      return refusal('unsupported-encoding', 'Content-Encoding must be snappy');
    return shape;
  },
  accepted(_headers, { format }, { written }) {
    const headers = { 'content-type': 'application/json', 'content-length': acceptedBody.length };
    return {
      status: 202,
      headers: format === 'remote-write-2' ? { ...headers, ...writtenHeaders(written ?? nothing) } : headers,
      body: acceptedBody,
    };
  },
  refused(headers, refused) {
    const body = JSON.stringify({ status: 'error', error: refused.message });
    const answer = refusedAnswer(refused, 'application/json', body);
    if (formatOf(headers['content-type']) !== 'remote-write-2') return answer;
    return { ...answer, headers: { ...answer.headers, ...writtenHeaders(nothing) } };
  },
};

export const remoteWrite = defineReceiver({
  name: 'remote-write',
  summary: 'Prometheus remote-write 1.0 and 2.0 on the main address',
  signals: ['metrics'],
  listens: [{ setting: 'HTTP_ADDRESS', protocol: 'http', paths: { metrics: path } }],
  maxBodyBytes,
  open(engine) {
    const ingest = new HttpIngest(engine, protocol);
    return {
      handler(request, response) {
        const { url = '' } = request;
        if (url !== path && !url.startsWith(`${path}?`)) return false;
        if (request.method === 'POST') {
          ingest.serve(new NodeCall(request, response), 'metrics');
          return true;
        }
        response.writeHead(405, { allow: 'POST', 'content-length': 0 }).end();
        return true;
      },
    };
  },
});
