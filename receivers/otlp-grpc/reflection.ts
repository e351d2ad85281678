/** `grpc.reflection`, v1 and v1alpha: lets grpcurl and others find the services without their `.proto` files. */
import type { ServerHttp2Stream } from 'node:http2';
import { type Descriptors, descriptors } from './descriptors.ts';
import { begin, code, fail, frame, messages } from './framing.ts';

const maxRequestBytes = 64 * 1024;

interface ReflectionRequest {
  readonly host?: string;
  readonly message_request?: string;
  readonly file_by_filename?: string;
  readonly file_containing_symbol?: string;
}

const notFound = (what: string) => ({ error_response: { error_code: code.notFound, error_message: what } });

const filesOr = (found: Uint8Array[] | undefined, what: string): object =>
  found === undefined ? notFound(what) : { file_descriptor_response: { file_descriptor_proto: found } };

const answerTo = (request: ReflectionRequest, { services, byFile, bySymbol }: Descriptors): object => {
  switch (request.message_request) {
    case 'list_services':
      return { list_services_response: { service: services.map((name) => ({ name })) } };
    case 'file_by_filename':
      return filesOr(byFile(request.file_by_filename ?? ''), 'there is no such file');
    case 'file_containing_symbol':
      return filesOr(bySymbol(request.file_containing_symbol ?? ''), 'there is no such symbol');
    default:
      return notFound('there are no extensions');
  }
};

/** Serves one reflection stream of the given version. */
export const reflect = (stream: ServerHttp2Stream, version: 'v1' | 'v1alpha'): void => {
  const known = descriptors();
  const requestType = known.type(`grpc.reflection.${version}.ServerReflectionRequest`);
  const responseType = known.type(`grpc.reflection.${version}.ServerReflectionResponse`);
  messages(stream, maxRequestBytes, (bytes) => {
    if (stream.destroyed) return;
    let request: ReflectionRequest;
    try {
      request = requestType.toObject(requestType.decode(bytes), { oneofs: true }) as ReflectionRequest;
    } catch {
      return fail(stream, code.invalidArgument, 'the request cannot be read');
    }
    if (!stream.headersSent) begin(stream);
    const response = { valid_host: request.host ?? '', original_request: request, ...answerTo(request, known) };
    stream.write(frame(responseType.encode(responseType.fromObject(response)).finish()));
  });
  stream.on('end', () => {
    if (stream.destroyed || stream.writableEnded) return;
    if (!stream.headersSent) begin(stream);
    stream.end();
  });
};
