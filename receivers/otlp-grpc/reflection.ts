/**
 * `grpc.reflection`, v1 and v1alpha: allows grpcurl and others to discover the services without their `.proto` files.
 */

import { type Descriptors, descriptors } from './descriptors.ts';
import { beginMessages, code, createMessageReader, endMessages, fail, frameMessage } from './framing.ts';
import type { ServerStream, StreamHandler } from './grpc-server.ts';

const maxRequestBytes = 64 * 1024;

interface ReflectionRequest {
  readonly host?: string;
  readonly message_request?: string;
  readonly file_by_filename?: string;
  readonly file_containing_symbol?: string;
}

const notFoundResponse = (what: string) => ({ error_response: { error_code: code.notFound, error_message: what } });

const filesResponse = (found: Uint8Array[] | undefined, what: string): object =>
  found === undefined ? notFoundResponse(what) : { file_descriptor_response: { file_descriptor_proto: found } };

const createResponse = (request: ReflectionRequest, { services, byFile, bySymbol }: Descriptors): object => {
  switch (request.message_request) {
    case 'list_services':
      return { list_services_response: { service: services.map((name) => ({ name })) } };
    case 'file_by_filename':
      return filesResponse(byFile(request.file_by_filename ?? ''), 'the file does not exist');
    case 'file_containing_symbol':
      return filesResponse(bySymbol(request.file_containing_symbol ?? ''), 'the symbol does not exist');
    default:
      return notFoundResponse('there are no extensions');
  }
};

/** Serves one reflection stream of the given version. */
export const reflect = (stream: ServerStream, version: 'v1' | 'v1alpha'): StreamHandler => {
  const known = descriptors();
  const requestType = known.type(`grpc.reflection.${version}.ServerReflectionRequest`);
  const responseType = known.type(`grpc.reflection.${version}.ServerReflectionResponse`);
  const answer = (bytes: Buffer) => {
    let request: ReflectionRequest;
    try {
      request = requestType.toObject(requestType.decode(bytes), { oneofs: true }) as ReflectionRequest;
    } catch {
      return fail(stream, code.invalidArgument, 'the request cannot be read');
    }
    beginMessages(stream);
    const response = { valid_host: request.host ?? '', original_request: request, ...createResponse(request, known) };
    stream.write(frameMessage(responseType.encode(responseType.fromObject(response)).finish()));
  };
  const end = (): void => {
    beginMessages(stream);
    endMessages(stream);
  };
  return createMessageReader(stream, maxRequestBytes, answer, { end });
};
