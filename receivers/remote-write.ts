/** Prometheus remote-write 1.0 and 2.0. The Snappy body is published to the bus unchanged. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { BodyFormat } from './engine/body-format.ts';
import { createErrorResponse, createPartialErrorResponse, type ErrorResponse } from './engine/error-responses.ts';
import { type HttpResponse, toRejectionResponse } from './engine/http-ingest.ts';
import { defineHttpReceiver } from './engine/http-receiver.ts';
import type { WriteCounts } from './engine/prepare.ts';

const acceptedBody = '{"status":"accepted"}';

const version1: BodyFormat = { name: 'remote-write-1', messageFormat: 'remote-write-1', isCostly: false };
const version2: BodyFormat = { name: 'remote-write-2', messageFormat: 'remote-write-2', isCostly: false };

const formats = new Map<string, BodyFormat>([
  ['prometheus.writerequest', version1],
  ['io.prometheus.write.v2.request', version2],
]);

/**
 * Returns the format that a Content-Type names. Senders of 1.0 may omit the parameter, and the oldest senders omit the
 * header.
 */
const parseFormat = (contentType: string | undefined): BodyFormat | undefined => {
  if (contentType === undefined) return version1;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== 'application/x-protobuf') return undefined;
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim() === 'proto') return formats.get(value.trim().replaceAll('"', ''));
  }
  return version1;
};

/** Remote-write 2.0 requires counts of the written items, even if nothing was written. */
const toWrittenHeaders = (written: WriteCounts): OutgoingHttpHeaders => ({
  'x-prometheus-remote-write-samples-written': String(written.samples),
  'x-prometheus-remote-write-histograms-written': String(written.histograms),
  'x-prometheus-remote-write-exemplars-written': String(written.exemplars),
});

const emptyCounts: WriteCounts = { samples: 0, histograms: 0, exemplars: 0 };

const toWriteRejection = (
  format: BodyFormat | undefined,
  errorResponse: ErrorResponse,
  written: WriteCounts,
): HttpResponse => {
  const body = JSON.stringify({ status: 'error', error: errorResponse.message });
  const response = toRejectionResponse(errorResponse, 'application/json', body);
  if (format !== version2) return response;
  return { ...response, headers: { ...response.headers, ...toWrittenHeaders(written) } };
};

export const remoteWrite = defineHttpReceiver({
  name: 'remote-write',
  summary: 'Prometheus remote-write 1.0 and 2.0 on the main address',
  signals: ['metrics'],
  listens: [{ setting: 'HTTP_ADDRESS', protocol: 'http', paths: { metrics: '/api/v1/prom/write' } }],
  maxBodyBytes: 20 * 1024 * 1024,
  formats: [version1, version2],
  shape(signal, headers) {
    const format = parseFormat(headers['content-type']);
    if (format === undefined)
      return createErrorResponse(
        'unsupported-type',
        'Content-Type must be application/x-protobuf with a proto of remote-write',
      );
    if (headers['content-encoding']?.trim().toLowerCase() !== 'snappy')
      return createErrorResponse('unsupported-encoding', 'Content-Encoding must be snappy');
    return { signal, format, encoding: 'snappy' };
  },
  toSuccessResponse(_headers, { format }, { records, written, rejected }) {
    if (rejected !== undefined)
      return toWriteRejection(
        format,
        createPartialErrorResponse('samples', { records, rejected }),
        written ?? emptyCounts,
      );
    const headers = { 'content-type': 'application/json', 'content-length': acceptedBody.length };
    return {
      status: 202,
      headers: format === version2 ? { ...headers, ...toWrittenHeaders(written ?? emptyCounts) } : headers,
      body: acceptedBody,
    };
  },
  toErrorResponse(headers, errorResponse) {
    return toWriteRejection(parseFormat(headers['content-type']), errorResponse, emptyCounts);
  },
});
